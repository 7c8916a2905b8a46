// Vectors of 16 bytes: NEON of 64-bit ARM.
#pragma once

#include <arm_neon.h>

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
constexpr bool kPopcount = true;
constexpr int kPlaneCenters = 16;
constexpr int kPlanesAtOnce = 64;

using V = uint8x16_t;

inline V load(const uint8_t* p) { return vld1q_u8(p); }
inline V load_front(const uint8_t*, int64_t) { return vdupq_n_u8(0); }
inline void store(uint8_t* p, V v) { vst1q_u8(p, v); }
inline V zero() { return vdupq_n_u8(0); }
inline V broadcast8(uint8_t x) { return vdupq_n_u8(x); }
inline V broadcast32(const uint32_t* p) { return vreinterpretq_u8_u32(vdupq_n_u32(*p)); }
inline V broadcast64(const uint8_t* p) {
  return vreinterpretq_u8_u64(vld1q_dup_u64(reinterpret_cast<const uint64_t*>(p)));
}
inline V load_lanes(const uint8_t* const* rows) { return load(rows[0]); }
inline V broadcast_lane(const uint8_t* p) { return load(p); }

inline V and_(V a, V b) { return vandq_u8(a, b); }
inline V or_(V a, V b) { return vorrq_u8(a, b); }
inline V xor_(V a, V b) { return veorq_u8(a, b); }
inline V add8(V a, V b) { return vaddq_u8(a, b); }
inline V sub8(V a, V b) { return vsubq_u8(a, b); }
inline V equal8(V a, V b) { return vceqq_u8(a, b); }
inline V lookup(V table, V index) { return vqtbl1q_u8(table, index); }
inline V popcount8(V x) { return vcntq_u8(x); }
inline V popcount64(V x) {
  return vreinterpretq_u8_u64(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(popcount8(x)))));
}
inline V add64(V a, V b) {
  return vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
}
SOFTMODES_INLINE void transpose64(V (&a)[kWidth / 8]) {
  const uint64x2_t first = vreinterpretq_u64_u8(a[0]), second = vreinterpretq_u64_u8(a[1]);
  a[0] = vreinterpretq_u8_u64(vzip1q_u64(first, second));
  a[1] = vreinterpretq_u8_u64(vzip2q_u64(first, second));
}
inline void add_words(V x, uint32_t* out) {
  vst1_u32(out, vadd_u32(vld1_u32(out), vmovn_u64(vreinterpretq_u64_u8(x))));
}
SOFTMODES_INLINE void sums64(const V (&x)[8], uint32_t* out) {
  for (int i = 0; i < 8; ++i)
    out[i] = static_cast<uint32_t>(vaddvq_u64(vreinterpretq_u64_u8(x[i])));
}
inline V low_nibbles(V x) { return vandq_u8(x, vdupq_n_u8(15)); }
inline V high_nibbles(V x) { return vshrq_n_u8(x, 4); }
inline V interleave_low(V a, V b) { return vzip1q_u8(a, b); }
inline V interleave_high(V a, V b) { return vzip2q_u8(a, b); }
inline V parity(V a, V b, V c) { return xor_(xor_(a, b), c); }
inline V majority(V a, V b, V c) { return vbslq_u8(xor_(a, b), c, a); }

inline V full_adder(V& sum, V a, V b) {
  const V differ = xor_(a, b);
  const V carry = vbslq_u8(differ, sum, a);
  sum = xor_(sum, differ);
  return carry;
}
inline V or_xor(V a, V b, V c) { return or_(a, xor_(b, c)); }
inline V select(V mask, V yes, V no) { return vbslq_u8(mask, yes, no); }
inline bool any_bit(V x) { return vmaxvq_u8(x) != 0; }
inline uint64_t byte_bits(V mask) {
  const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const V bits = vandq_u8(mask, vld1q_u8(places));
  return static_cast<uint64_t>(vaddv_u8(vget_low_u8(bits))) |
         static_cast<uint64_t>(vaddv_u8(vget_high_u8(bits))) << 8;
}

template <int kShift>
inline uint64x2_t swap_bits(uint64x2_t x, uint64_t mask) {
  const uint64x2_t t = vandq_u64(veorq_u64(x, vshrq_n_u64(x, kShift)), vdupq_n_u64(mask));
  return veorq_u64(x, veorq_u64(t, vshlq_n_u64(t, kShift)));
}
inline V transpose_bits(V bytes) {
  uint64x2_t x = vreinterpretq_u64_u8(bytes);
  x = swap_bits<7>(x, 0x00aa00aa00aa00aaull);
  x = swap_bits<14>(x, 0x0000cccc0000ccccull);
  return vreinterpretq_u8_u64(swap_bits<28>(x, 0x00000000f0f0f0f0ull));
}
constexpr bool kLastBitFirst = false;
inline V transpose_bits_fast(V x) { return transpose_bits(x); }

inline V one_hot(const uint8_t* p, int quarter) {
  const uint8x8_t below_8 = vcreate_u8(0x8040201008040201ull), none = vcreate_u8(0);
  const V bits = quarter % 2 ? vcombine_u8(none, below_8) : vcombine_u8(below_8, none);
  return lookup(bits, quarter < 2 ? low_nibbles(load(p)) : high_nibbles(load(p)));
}

// A look-up from 16 on gives 0.
inline V one_hot_bytes(const uint8_t* p, int quarter) {
  const V bits = vcombine_u8(vcreate_u8(0x8040201008040201ull), vcreate_u8(0));
  return vqtbl1q_u8(bits, sub8(load(p), broadcast8(static_cast<uint8_t>(8 * quarter))));
}

struct V16 {
  uint16x8_t low, high;  // sums of the first and the last 8 bytes
};
inline V16 load16(const uint16_t* p) { return {vld1q_u16(p), vld1q_u16(p + 8)}; }
inline void store16(uint16_t* p, V16 v) {
  vst1q_u16(p, v.low);
  vst1q_u16(p + 8, v.high);
}
inline V16 broadcast16(uint16_t x) { return {vdupq_n_u16(x), vdupq_n_u16(x)}; }
inline V16 spread(V bytes, int shift) {
  const int16x8_t by = vdupq_n_s16(static_cast<int16_t>(shift));
  return {vshlq_u16(vmovl_u8(vget_low_u8(bytes)), by),
          vshlq_u16(vmovl_u8(vget_high_u8(bytes)), by)};
}
inline V16 add16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {vaddq_u16(sum.low, x.low), vaddq_u16(sum.high, x.high)};
}
inline V16 sub16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {vsubq_u16(sum.low, x.low), vsubq_u16(sum.high, x.high)};
}

inline V add_numbers16(V a, V b) {
  return vreinterpretq_u8_u16(vaddq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}
inline V add_numbers32(V a, V b) {
  return vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}
inline V min_numbers32(V a, V b) {
  return vreinterpretq_u8_u32(vminq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}
inline void add_widened(V x, uint32_t* out) {
  const uint16x8_t numbers = vreinterpretq_u16_u8(x);
  vst1q_u32(out, vaddw_u16(vld1q_u32(out), vget_low_u16(numbers)));
  vst1q_u32(out + 4, vaddw_high_u16(vld1q_u32(out + 4), numbers));
}
inline uint32_t least_number32(V x) { return vminvq_u32(vreinterpretq_u32_u8(x)); }
inline uint64_t number_bits32(uint32x4_t mask) {
  const uint32x4_t bits = {1, 2, 4, 8};
  return vaddvq_u32(vandq_u32(mask, bits));
}
inline uint64_t equal_bits32(V a, V b) {
  return number_bits32(vceqq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}
inline uint64_t below_bits32(V a, V b) {
  return number_bits32(vcltq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
}

}  // namespace softmodes::SOFTMODES_ISA
