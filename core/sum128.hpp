// Exact sums of products that do not fit in 64 bits.
#pragma once

#include <cstdint>

namespace softmodes {

struct Sum128 {
  uint64_t high = 0, low = 0;

  void add(uint64_t x) {
    low += x;
    high += low < x;
  }
  void add_product(uint64_t a, uint32_t b) {
    const uint64_t upper = (a >> 32) * b;
    add((a & 0xffffffff) * b);
    add(upper << 32);
    high += upper >> 32;
  }
  Sum128& operator+=(const Sum128& other) {
    add(other.low);
    high += other.high;
    return *this;
  }
};

}  // namespace softmodes
