// Rows <-> bit planes. A plane is one bit of each of kPlaneRows rows.
#pragma once

#include "isa/transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kPlaneRows = 8 * kWidth;

inline V ones() { return broadcast8(255); }
inline V not_(V a) { return xor_(a, ones()); }

// Bit b of byte i of the rows becomes plane 8 i + b.
void slice_rows(const uint8_t* rows, int64_t stride, int64_t n_bytes, uint8_t* planes);

// Numbers of n_bits planes, one for each row.
template <class T>
inline void unslice(const V* planes, int n_bits, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = 0;
  for (int first = 0; first < n_bits; first += 8) {
    V eight[8];
    for (int b = 0; b < 8; ++b) eight[b] = first + b < n_bits ? planes[first + b] : zero();
    uint8_t bytes[kPlaneRows];
    bytes_of_planes(eight, bytes);
    for (int64_t i = 0; i < n; ++i) out[i] |= static_cast<T>(T{bytes[i]} << first);
  }
}

}  // namespace softmodes::SOFTMODES_ISA
