// Vectors of 32 bytes: AVX2.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "isa/simd/append.hpp"
#include "isa/simd/lanes.hpp"
#include "isa/simd/ties.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kWidth = 32;
constexpr int kLanes = kWidth / 16;
constexpr int kFewCenters = 4;
constexpr int kLongRow = 256;
constexpr bool kPopcount = false;
constexpr int kPlaneCenters = 16;
constexpr int kPlanesAtOnce = 64;

using V = __m256i;

inline V load(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const V*>(p)); }
inline V load_front(const uint8_t* p, int64_t) {
  return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline void store(uint8_t* p, V v) { _mm256_storeu_si256(reinterpret_cast<V*>(p), v); }
inline V zero() { return _mm256_setzero_si256(); }
inline V broadcast8(uint8_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
inline V broadcast32(const uint32_t* p) { return _mm256_set1_epi32(static_cast<int>(*p)); }
inline V broadcast64(const uint8_t* p) {
  return _mm256_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline __m128i load_lane(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline V load_lanes(const uint8_t* const* rows) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_lane(rows[0])), load_lane(rows[1]), 1);
}
inline V broadcast_lane(const uint8_t* p) { return _mm256_broadcastsi128_si256(load_lane(p)); }

inline V and_(V a, V b) { return _mm256_and_si256(a, b); }
inline V or_(V a, V b) { return _mm256_or_si256(a, b); }
inline V xor_(V a, V b) { return _mm256_xor_si256(a, b); }
inline V add8(V a, V b) { return _mm256_add_epi8(a, b); }
inline V sub8(V a, V b) { return _mm256_sub_epi8(a, b); }
inline V equal8(V a, V b) { return _mm256_cmpeq_epi8(a, b); }
inline V lookup(V table, V index) { return _mm256_shuffle_epi8(table, index); }
inline V low_nibbles(V x) { return and_(x, broadcast8(15)); }
inline V high_nibbles(V x) { return and_(_mm256_srli_epi16(x, 4), broadcast8(15)); }
inline V popcount8(V x) {
  const V ones =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  return add8(lookup(ones, low_nibbles(x)), lookup(ones, high_nibbles(x)));
}
inline V popcount64(V x) { return _mm256_sad_epu8(popcount8(x), zero()); }
inline V add64(V a, V b) { return _mm256_add_epi64(a, b); }
SOFTMODES_INLINE void transpose64(V (&a)[kWidth / 8]) {
  const V even01 = _mm256_unpacklo_epi64(a[0], a[1]), odd01 = _mm256_unpackhi_epi64(a[0], a[1]);
  const V even23 = _mm256_unpacklo_epi64(a[2], a[3]), odd23 = _mm256_unpackhi_epi64(a[2], a[3]);
  a[0] = _mm256_permute2x128_si256(even01, even23, 0x20);
  a[1] = _mm256_permute2x128_si256(odd01, odd23, 0x20);
  a[2] = _mm256_permute2x128_si256(even01, even23, 0x31);
  a[3] = _mm256_permute2x128_si256(odd01, odd23, 0x31);
}
inline void add_words(V x, uint32_t* out) {
  const V low_halves = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  auto* four = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(four, _mm_add_epi32(_mm_loadu_si128(four), _mm256_castsi256_si128(low_halves)));
}
SOFTMODES_INLINE void sums64(const V (&x)[8], uint32_t* out) {
  for (int i = 0; i < 8; ++i) {
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(x[i]), _mm256_extracti128_si256(x[i], 1));
    out[i] = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_add_epi64(two, _mm_srli_si128(two, 8))));
  }
}
inline V interleave_low(V a, V b) { return _mm256_unpacklo_epi8(a, b); }
inline V interleave_high(V a, V b) { return _mm256_unpackhi_epi8(a, b); }
inline bool any_bit(V x) { return !_mm256_testz_si256(x, x); }
inline uint64_t byte_bits(V mask) { return static_cast<uint32_t>(_mm256_movemask_epi8(mask)); }

template <int kShift>
inline V swap_bits(V x, uint64_t mask) {
  const V wanted = _mm256_set1_epi64x(static_cast<long long>(mask));
  const V t = and_(xor_(x, _mm256_srli_epi64(x, kShift)), wanted);
  return xor_(x, xor_(t, _mm256_slli_epi64(t, kShift)));
}
inline V transpose_bits(V x) {
  x = swap_bits<7>(x, 0x00aa00aa00aa00aaull);
  x = swap_bits<14>(x, 0x0000cccc0000ccccull);
  return swap_bits<28>(x, 0x00000000f0f0f0f0ull);
}

inline V one_hot(const uint8_t* p, int half) {
  const V x = broadcast_lane(p);
  const long long below_8 = static_cast<long long>(0x8040201008040201ull);
  const V bits = _mm256_setr_epi64x(below_8, 0, 0, below_8);
  return lookup(bits, half ? high_nibbles(x) : low_nibbles(x));
}

// A byte that is not `from` .. from + 15 gets its upper bit set, for which a look-up gives 0.
inline V one_hot_bytes(const uint8_t* p, int half) {
  const V from = half ? _mm256_setr_m128i(_mm_set1_epi8(16), _mm_set1_epi8(24))
                      : _mm256_setr_m128i(_mm_set1_epi8(0), _mm_set1_epi8(8));
  const long long below_8 = static_cast<long long>(0x8040201008040201ull);
  const V bits = _mm256_setr_epi64x(below_8, 0, below_8, 0);
  return lookup(bits, _mm256_adds_epu8(sub8(broadcast_lane(p), from), broadcast8(0x70)));
}

struct V16 {
  V even, odd;  // sums of the bytes at even and odd places
};
inline V16 load16(const uint16_t* p) {
  const V a = _mm256_loadu_si256(reinterpret_cast<const V*>(p));
  const V b = _mm256_loadu_si256(reinterpret_cast<const V*>(p + 16));
  // Sorts each lane into evens and odds, then puts the lanes of a and b together.
  const V sorted = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const V x = _mm256_permute4x64_epi64(lookup(a, sorted), 0xd8);
  const V y = _mm256_permute4x64_epi64(lookup(b, sorted), 0xd8);
  return {_mm256_permute2x128_si256(x, y, 0x20), _mm256_permute2x128_si256(x, y, 0x31)};
}
inline void store16(uint16_t* p, V16 v) {
  const V low = _mm256_unpacklo_epi16(v.even, v.odd), high = _mm256_unpackhi_epi16(v.even, v.odd);
  _mm256_storeu_si256(reinterpret_cast<V*>(p), _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256(reinterpret_cast<V*>(p + 16), _mm256_permute2x128_si256(low, high, 0x31));
}
inline V16 broadcast16(uint16_t x) {
  const V v = _mm256_set1_epi16(static_cast<short>(x));
  return {v, v};
}
inline V16 spread(V bytes, int shift) {
  const __m128i by = _mm_cvtsi32_si128(shift);
  return {_mm256_sll_epi16(and_(bytes, _mm256_set1_epi16(255)), by),
          _mm256_sll_epi16(_mm256_srli_epi16(bytes, 8), by)};
}
inline V16 add16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {_mm256_add_epi16(sum.even, x.even), _mm256_add_epi16(sum.odd, x.odd)};
}
inline V16 sub16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {_mm256_sub_epi16(sum.even, x.even), _mm256_sub_epi16(sum.odd, x.odd)};
}

template <>
struct Lanes<uint8_t> {
  static constexpr int kCount = 32;
  static V load(const uint8_t* p) { return SOFTMODES_ISA::load(p); }
  static void store(uint8_t* p, V v) { SOFTMODES_ISA::store(p, v); }
  static V broadcast(int64_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
  static V min(V a, V b) { return _mm256_min_epu8(a, b); }
  static V if_equal(V a, V b, V yes, V no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi8(a, b));
  }
  static uint64_t equal_bits(V a, V b) { return byte_bits(_mm256_cmpeq_epi8(a, b)); }
};

template <>
struct Lanes<uint16_t> {
  static constexpr int kCount = 16;
  static V load(const uint16_t* p) { return _mm256_loadu_si256(reinterpret_cast<const V*>(p)); }
  static void store(uint16_t* p, V v) { _mm256_storeu_si256(reinterpret_cast<V*>(p), v); }
  static V broadcast(int64_t x) { return _mm256_set1_epi16(static_cast<short>(x)); }
  static V min(V a, V b) { return _mm256_min_epu16(a, b); }
  static V max(V a, V b) { return _mm256_max_epu16(a, b); }
  static V add(V a, V b) { return _mm256_add_epi16(a, b); }
  static V if_equal(V a, V b, V yes, V no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi16(a, b));
  }
  static uint64_t equal_bits(V a, V b) {
    const V equal = _mm256_cmpeq_epi16(a, b);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(equal), _mm256_extracti128_si256(equal, 1));
    return static_cast<uint32_t>(_mm_movemask_epi8(bytes));
  }
};

inline V add_numbers16(V a, V b) { return _mm256_add_epi16(a, b); }
inline V add_numbers32(V a, V b) { return _mm256_add_epi32(a, b); }
inline V min_numbers32(V a, V b) { return _mm256_min_epu32(a, b); }
inline void add_widened(V x, uint32_t* out) {
  auto* numbers = reinterpret_cast<V*>(out);
  const V low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(x));
  const V high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(x, 1));
  _mm256_storeu_si256(numbers, _mm256_add_epi32(_mm256_loadu_si256(numbers), low));
  _mm256_storeu_si256(numbers + 1, _mm256_add_epi32(_mm256_loadu_si256(numbers + 1), high));
}
inline uint32_t least_number32(V x) {
  __m128i low = _mm_min_epu32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  low = _mm_min_epu32(low, _mm_shuffle_epi32(low, 0x4e));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_min_epu32(low, _mm_shuffle_epi32(low, 0xb1))));
}
inline uint64_t equal_bits32(V a, V b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))));
}
inline uint64_t below_bits32(V a, V b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a))));
}

}  // namespace softmodes::SOFTMODES_ISA

#include "isa/simd/logic.hpp"
