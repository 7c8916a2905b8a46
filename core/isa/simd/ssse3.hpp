// Vectors of 16 bytes: SSSE3.
#pragma once

#include <tmmintrin.h>

#include <cstdint>
#include <cstring>

#include "isa/simd/append.hpp"
#include "isa/simd/lanes.hpp"
#include "isa/simd/ties.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kWidth = 16;
constexpr int kLanes = kWidth / 16;
constexpr int kFewCenters = 4;
constexpr int kLongRow = 256;
constexpr bool kPopcount = false;
constexpr int kPlaneCenters = 16;
constexpr int kPlanesAtOnce = 32;

using V = __m128i;

inline V load(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const V*>(p)); }
inline V load_front(const uint8_t*, int64_t) { return _mm_setzero_si128(); }
inline void store(uint8_t* p, V v) { _mm_storeu_si128(reinterpret_cast<V*>(p), v); }
inline V zero() { return _mm_setzero_si128(); }
inline V broadcast8(uint8_t x) { return _mm_set1_epi8(static_cast<char>(x)); }
inline V broadcast32(const uint32_t* p) { return _mm_set1_epi32(static_cast<int>(*p)); }
inline V broadcast64(const uint8_t* p) {
  const V x = _mm_loadl_epi64(reinterpret_cast<const V*>(p));
  return _mm_unpacklo_epi64(x, x);
}
inline V load_lanes(const uint8_t* const* rows) { return load(rows[0]); }
inline V broadcast_lane(const uint8_t* p) { return load(p); }

inline V and_(V a, V b) { return _mm_and_si128(a, b); }
inline V or_(V a, V b) { return _mm_or_si128(a, b); }
inline V xor_(V a, V b) { return _mm_xor_si128(a, b); }
inline V add8(V a, V b) { return _mm_add_epi8(a, b); }
inline V sub8(V a, V b) { return _mm_sub_epi8(a, b); }
inline V equal8(V a, V b) { return _mm_cmpeq_epi8(a, b); }
inline V lookup(V table, V index) { return _mm_shuffle_epi8(table, index); }
inline V low_nibbles(V x) { return and_(x, broadcast8(15)); }
inline V high_nibbles(V x) { return and_(_mm_srli_epi16(x, 4), broadcast8(15)); }
inline V popcount8(V x) {
  const V ones = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  return add8(lookup(ones, low_nibbles(x)), lookup(ones, high_nibbles(x)));
}
inline V popcount64(V x) { return _mm_sad_epu8(popcount8(x), zero()); }
inline V add64(V a, V b) { return _mm_add_epi64(a, b); }
SOFTMODES_INLINE void transpose64(V (&a)[kWidth / 8]) {
  const V first = a[0];
  a[0] = _mm_unpacklo_epi64(first, a[1]);
  a[1] = _mm_unpackhi_epi64(first, a[1]);
}
inline void add_words(V x, uint32_t* out) {
  out[0] += static_cast<uint32_t>(_mm_cvtsi128_si32(x));
  out[1] += static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_srli_si128(x, 8)));
}
SOFTMODES_INLINE void sums64(const V (&x)[8], uint32_t* out) {
  for (int i = 0; i < 8; ++i)
    out[i] = static_cast<uint32_t>(_mm_cvtsi128_si32(add64(x[i], _mm_srli_si128(x[i], 8))));
}
inline V interleave_low(V a, V b) { return _mm_unpacklo_epi8(a, b); }
inline V interleave_high(V a, V b) { return _mm_unpackhi_epi8(a, b); }
inline bool any_bit(V x) { return _mm_movemask_epi8(_mm_cmpeq_epi8(x, zero())) != 0xffff; }
inline uint64_t byte_bits(V mask) { return static_cast<uint32_t>(_mm_movemask_epi8(mask)); }

template <int kShift>
inline V swap_bits(V x, uint64_t mask) {
  const V wanted = _mm_set1_epi64x(static_cast<long long>(mask));
  const V t = and_(xor_(x, _mm_srli_epi64(x, kShift)), wanted);
  return xor_(x, xor_(t, _mm_slli_epi64(t, kShift)));
}
inline V transpose_bits(V x) {
  x = swap_bits<7>(x, 0x00aa00aa00aa00aaull);
  x = swap_bits<14>(x, 0x0000cccc0000ccccull);
  return swap_bits<28>(x, 0x00000000f0f0f0f0ull);
}

inline V one_hot(const uint8_t* p, int quarter) {
  const long long below_8 = static_cast<long long>(0x8040201008040201ull);
  const V bits = quarter % 2 ? _mm_set_epi64x(below_8, 0) : _mm_set_epi64x(0, below_8);
  return lookup(bits, quarter < 2 ? low_nibbles(load(p)) : high_nibbles(load(p)));
}

// A byte that is not 8 * quarter .. + 15 gets its upper bit set, for which a look-up gives 0.
inline V one_hot_bytes(const uint8_t* p, int quarter) {
  const V bits = _mm_set_epi64x(0, static_cast<long long>(0x8040201008040201ull));
  const V above = sub8(load(p), broadcast8(static_cast<uint8_t>(8 * quarter)));
  return lookup(bits, _mm_adds_epu8(above, broadcast8(0x70)));
}

struct V16 {
  V low, high;  // sums of the first and the last 8 bytes
};
inline V16 load16(const uint16_t* p) {
  return {_mm_loadu_si128(reinterpret_cast<const V*>(p)),
          _mm_loadu_si128(reinterpret_cast<const V*>(p + 8))};
}
inline void store16(uint16_t* p, V16 v) {
  _mm_storeu_si128(reinterpret_cast<V*>(p), v.low);
  _mm_storeu_si128(reinterpret_cast<V*>(p + 8), v.high);
}
inline V16 broadcast16(uint16_t x) {
  const V v = _mm_set1_epi16(static_cast<short>(x));
  return {v, v};
}
inline V16 spread(V bytes, int shift) {
  const __m128i by = _mm_cvtsi32_si128(shift);
  return {_mm_sll_epi16(_mm_unpacklo_epi8(bytes, zero()), by),
          _mm_sll_epi16(_mm_unpackhi_epi8(bytes, zero()), by)};
}
inline V16 add16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {_mm_add_epi16(sum.low, x.low), _mm_add_epi16(sum.high, x.high)};
}
inline V16 sub16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {_mm_sub_epi16(sum.low, x.low), _mm_sub_epi16(sum.high, x.high)};
}

inline V choose(V mask, V yes, V no) { return xor_(no, and_(mask, xor_(yes, no))); }

template <>
struct Lanes<uint8_t> {
  static constexpr int kCount = 16;
  static V load(const uint8_t* p) { return SOFTMODES_ISA::load(p); }
  static void store(uint8_t* p, V v) { SOFTMODES_ISA::store(p, v); }
  static V broadcast(int64_t x) { return _mm_set1_epi8(static_cast<char>(x)); }
  static V min(V a, V b) { return _mm_min_epu8(a, b); }
  static V if_equal(V a, V b, V yes, V no) { return choose(_mm_cmpeq_epi8(a, b), yes, no); }
  static uint64_t equal_bits(V a, V b) { return byte_bits(_mm_cmpeq_epi8(a, b)); }
};

template <>
struct Lanes<uint16_t> {
  static constexpr int kCount = 8;
  static V load(const uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const V*>(p)); }
  static void store(uint16_t* p, V v) { _mm_storeu_si128(reinterpret_cast<V*>(p), v); }
  static V broadcast(int64_t x) { return _mm_set1_epi16(static_cast<short>(x)); }
  static V min(V a, V b) { return _mm_sub_epi16(a, _mm_subs_epu16(a, b)); }
  static V max(V a, V b) { return _mm_add_epi16(b, _mm_subs_epu16(a, b)); }
  static V add(V a, V b) { return _mm_add_epi16(a, b); }
  static V if_equal(V a, V b, V yes, V no) { return choose(_mm_cmpeq_epi16(a, b), yes, no); }
  static uint64_t equal_bits(V a, V b) {
    return byte_bits(_mm_packs_epi16(_mm_cmpeq_epi16(a, b), zero()));
  }
};

inline V add_numbers16(V a, V b) { return _mm_add_epi16(a, b); }
inline V add_numbers32(V a, V b) { return _mm_add_epi32(a, b); }
inline V min_numbers32(V a, V b) {
  const V greater = _mm_cmpgt_epi32(a, b);
  return or_(and_(greater, b), _mm_andnot_si128(greater, a));
}
inline void add_widened(V x, uint32_t* out) {
  auto* numbers = reinterpret_cast<V*>(out);
  const V low = _mm_unpacklo_epi16(x, zero()), high = _mm_unpackhi_epi16(x, zero());
  _mm_storeu_si128(numbers, _mm_add_epi32(_mm_loadu_si128(numbers), low));
  _mm_storeu_si128(numbers + 1, _mm_add_epi32(_mm_loadu_si128(numbers + 1), high));
}
inline uint32_t least_number32(V x) {
  x = min_numbers32(x, _mm_shuffle_epi32(x, 0x4e));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(min_numbers32(x, _mm_shuffle_epi32(x, 0xb1))));
}
inline uint64_t equal_bits32(V a, V b) {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(a, b))));
}
inline uint64_t below_bits32(V a, V b) {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(b, a))));
}

}  // namespace softmodes::SOFTMODES_ISA

#include "isa/simd/logic.hpp"
