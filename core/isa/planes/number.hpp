// Sums of planes, by carry-save adders: two operations per plane.
#pragma once

#include <bit>

#include "isa/planes/slice.hpp"

namespace softmodes::SOFTMODES_ISA {

inline V plane_at(const uint8_t* planes, uint16_t offset) {
  return load(planes + 8 * int64_t{offset});
}

// Adds N planes, a power of two, to the lowest bits of a sum; returns the carry of weight N.
template <int N>
SOFTMODES_INLINE V add_planes(const uint8_t* planes, const uint16_t* offsets, V* sum) {
  if constexpr (N == 1) {
    return plane_at(planes, *offsets);
  } else {
    constexpr int level = std::countr_zero(unsigned{N}) - 1;
    const V a = add_planes<N / 2>(planes, offsets, sum);
    const V b = add_planes<N / 2>(planes, offsets + N / 2, sum);
    return full_adder(sum[level], a, b);
  }
}

// A number for every row, in planes. The loops are of fixed length: it is meant for registers.
template <int kBits>
struct Number {
  V bit[kBits];

  SOFTMODES_INLINE void clear() {
    for (auto& b : bit) b = zero();
  }
  SOFTMODES_INLINE void read(const uint8_t* p) {
    for (int b = 0; b < kBits; ++b) bit[b] = load(p + b * kWidth);
  }
  SOFTMODES_INLINE void write(uint8_t* p) const {
    for (int b = 0; b < kBits; ++b) store(p + b * kWidth, bit[b]);
  }

  // Adds n planes of weight 2^kShift, the smallest powers of two first: while the number is still
  // zero, their carries meet a bit that nothing has been added to.
  template <int kShift, bool kFromZero>
  SOFTMODES_INLINE void add(const uint8_t* planes, const uint16_t* offsets, int64_t n) {
    offsets = add_powers<kShift, kFromZero, 1>(planes, offsets, n);
    for (int64_t i = n / kMostAtOnce; i; --i, offsets += kMostAtOnce)
      add_power<kShift, kMostAtOnce>(planes, offsets);
  }

  template <int kOther>
  SOFTMODES_INLINE void add_doubled(const Number<kOther>& other) {
    V carry = zero();
    for (int b = 1; b < kBits; ++b)
      carry = full_adder(bit[b], b - 1 < kOther ? other.bit[b - 1] : zero(), carry);
  }

 private:
  static constexpr int kMostAtOnce = kBits >= 8 || kPlanesAtOnce < 32 ? kPlanesAtOnce : 32;

  template <int kShift, bool kFromZero, int N>
  SOFTMODES_INLINE const uint16_t* add_powers(const uint8_t* planes, const uint16_t* offsets,
                                              int64_t n) {
    if constexpr (N == kMostAtOnce) {
      return offsets;
    } else {
      if (n & N) {
        if constexpr (kFromZero)
          bit[kShift + std::countr_zero(unsigned{N})] =
              add_planes<N>(planes, offsets, bit + kShift);
        else
          add_power<kShift, N>(planes, offsets);
        offsets += N;
      }
      return add_powers<kShift, kFromZero, 2 * N>(planes, offsets, n);
    }
  }

  template <int kShift, int N>
  SOFTMODES_INLINE void add_power(const uint8_t* planes, const uint16_t* offsets) {
    V carry = add_planes<N>(planes, offsets, bit + kShift);
    for (int b = kShift + std::countr_zero(unsigned{N}); b < kBits; ++b) {
      const V next = and_(bit[b], carry);
      bit[b] = xor_(bit[b], carry);
      carry = next;
    }
  }
};

// Adds to the distance of a tile's rows to one center what a set of features makes of it.
template <int kBits>
SOFTMODES_INLINE void add_set(const PlaneSet& set, bool first, const uint8_t* planes,
                              const uint16_t* addends, Number<kBits>& distance) {
  if (!first) {
    distance.template add<0, false>(planes, addends, set.n_ones);
    distance.template add<1, false>(planes, addends + set.n_ones, set.n_triples);
    return;
  }
  distance.clear();
  distance.template add<0, true>(planes, addends, set.n_ones);
  if (!set.n_triples) return;
  Number<kBits - 1> twos;
  twos.clear();
  twos.template add<0, true>(planes, addends + set.n_ones, set.n_triples);
  distance.add_doubled(twos);
}

}  // namespace softmodes::SOFTMODES_ISA
