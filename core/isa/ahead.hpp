// Memory fetched before it is needed.
#pragma once

#include "isa/simd/isa.hpp"

namespace softmodes::SOFTMODES_ISA {

// Memory to be fetched a little at a time while there is something to compute.
struct Ahead {
  const uint8_t* next;
  int64_t left, step_bytes;
  void step() {
    const int64_t n = step_bytes < left ? step_bytes : left;
    prefetch(next, n);
    next += n;
    left -= n;
  }
};

}  // namespace softmodes::SOFTMODES_ISA
