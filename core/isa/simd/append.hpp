// Collecting chosen row numbers, for instruction sets without an instruction for it.
#pragma once

#include <cstdint>

namespace softmodes::SOFTMODES_ISA {

constexpr int kFewClusters = 3;  // for more, sorting by counting is faster

// Appends to `out` the numbers first .. first + 16 whose label is wanted; writes up to 16 words.
inline int append_equal(const int32_t* labels, int32_t wanted, int32_t first, int32_t* out) {
  int n = 0;
  for (int i = 0; i < 16; ++i) {
    out[n] = first + i;
    n += labels[i] == wanted;
  }
  return n;
}

}  // namespace softmodes::SOFTMODES_ISA
