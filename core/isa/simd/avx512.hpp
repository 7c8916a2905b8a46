// Vectors of 64 bytes: AVX-512 with BW, DQ, VL, VBMI, BITALG, VPOPCNTDQ, VNNI, and GFNI, BMI2.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "hashing.hpp"
#include "isa/simd/lanes.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kWidth = 64;
constexpr int kLanes = kWidth / 16;
constexpr int kFewClusters = 8;
constexpr int kFewCenters = 16;
constexpr int kLongRow = 64;
constexpr bool kPopcount = true;
constexpr int kPlaneCenters = 16;
constexpr int kPlanesAtOnce = 64;

using V = __m512i;

// A mask as a number. Every mask that becomes one does so here: GCC 12 may keep a widened mask on
// the stack by storing only the bytes of the mask, and reads stale bytes above them later.
inline uint64_t bits_of(__mmask8 mask) {
  uint64_t bits;
  asm("kmovb %1, %k0" : "=r"(bits) : "k"(mask));
  return bits;
}
inline uint64_t bits_of(__mmask16 mask) {
  uint64_t bits;
  asm("kmovw %1, %k0" : "=r"(bits) : "k"(mask));
  return bits;
}
inline uint64_t bits_of(__mmask32 mask) {
  uint64_t bits;
  asm("kmovd %1, %k0" : "=r"(bits) : "k"(mask));
  return bits;
}

inline V load(const uint8_t* p) { return _mm512_loadu_si512(p); }
inline V load_front(const uint8_t* p, int64_t n) {
  return _mm512_maskz_loadu_epi8((uint64_t{1} << n) - 1, p);
}
inline void store(uint8_t* p, V v) { _mm512_storeu_si512(p, v); }
inline V zero() { return _mm512_setzero_si512(); }
inline V broadcast8(uint8_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
inline V broadcast32(const uint32_t* p) { return _mm512_set1_epi32(static_cast<int>(*p)); }
inline V broadcast64(const uint8_t* p) {
  return _mm512_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline __m128i load_lane(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline V load_lanes(const uint8_t* const* rows) {
  V x = _mm512_castsi128_si512(load_lane(rows[0]));
  x = _mm512_inserti32x4(x, load_lane(rows[1]), 1);
  x = _mm512_inserti32x4(x, load_lane(rows[2]), 2);
  return _mm512_inserti32x4(x, load_lane(rows[3]), 3);
}
inline V broadcast_lane(const uint8_t* p) { return _mm512_broadcast_i32x4(load_lane(p)); }

inline V and_(V a, V b) { return _mm512_and_si512(a, b); }
inline V or_(V a, V b) { return _mm512_or_si512(a, b); }
inline V xor_(V a, V b) { return _mm512_xor_si512(a, b); }
inline V add8(V a, V b) { return _mm512_add_epi8(a, b); }
inline V sub8(V a, V b) { return _mm512_sub_epi8(a, b); }
inline V equal8(V a, V b) { return _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(a, b)); }
inline V lookup(V table, V index) { return _mm512_shuffle_epi8(table, index); }
inline V popcount8(V x) { return _mm512_popcnt_epi8(x); }
inline V low_nibbles(V x) { return and_(x, broadcast8(15)); }
inline V high_nibbles(V x) { return and_(_mm512_srli_epi16(x, 4), broadcast8(15)); }
inline V popcount64(V x) { return _mm512_popcnt_epi64(x); }
inline V add64(V a, V b) { return _mm512_add_epi64(a, b); }
SOFTMODES_INLINE void transpose64(V (&a)[kWidth / 8]) {
  V b[8];
  for (int i = 0; i < 4; ++i) {  // b[i]: even words of two rows, b[4 + i]: odd words
    b[i] = _mm512_unpacklo_epi64(a[2 * i], a[2 * i + 1]);
    b[4 + i] = _mm512_unpackhi_epi64(a[2 * i], a[2 * i + 1]);
  }
  for (int odd = 0; odd < 2; ++odd) {
    const V* c = b + 4 * odd;
    const V front01 = _mm512_shuffle_i64x2(c[0], c[1], 0x44);  // lanes 0 and 1 of both
    const V front23 = _mm512_shuffle_i64x2(c[2], c[3], 0x44);
    const V back01 = _mm512_shuffle_i64x2(c[0], c[1], 0xee);
    const V back23 = _mm512_shuffle_i64x2(c[2], c[3], 0xee);
    a[odd] = _mm512_shuffle_i64x2(front01, front23, 0x88);
    a[2 + odd] = _mm512_shuffle_i64x2(front01, front23, 0xdd);
    a[4 + odd] = _mm512_shuffle_i64x2(back01, back23, 0x88);
    a[6 + odd] = _mm512_shuffle_i64x2(back01, back23, 0xdd);
  }
}
inline void add_words(V x, uint32_t* out) {
  auto* eight = reinterpret_cast<__m256i*>(out);
  _mm256_storeu_si256(eight, _mm256_add_epi32(_mm256_loadu_si256(eight), _mm512_cvtepi64_epi32(x)));
}
inline V add_pairs(V a, V b) {  // in every lane: the sum of a's words, then of b's
  return add64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}
SOFTMODES_INLINE void sums64(const V (&x)[8], uint32_t* out) {
  V two[4];  // two sums in every word
  for (int i = 0; i < 4; ++i) two[i] = add64(x[2 * i], _mm512_slli_epi64(x[2 * i + 1], 32));
  const V front = add_pairs(two[0], two[1]), back = add_pairs(two[2], two[3]);
  const V half =
      add64(_mm512_shuffle_i64x2(front, back, 0x44), _mm512_shuffle_i64x2(front, back, 0xee));
  const V whole = add64(half, _mm512_shuffle_i64x2(half, half, 0xb1));  // in lanes 0 and 2
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm512_castsi512_si256(_mm512_shuffle_i64x2(whole, whole, 0x08)));
}
inline V interleave_low(V a, V b) { return _mm512_unpacklo_epi8(a, b); }
inline V interleave_high(V a, V b) { return _mm512_unpackhi_epi8(a, b); }
inline V parity(V a, V b, V c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
inline V majority(V a, V b, V c) { return _mm512_ternarylogic_epi64(a, b, c, 0xe8); }
// sum + a + b: the sum in place, and the carry. Where a and b differ, the carry is the old sum,
// which then is the opposite of the new one: no register has to be copied.
inline V full_adder(V& sum, V a, V b) {
  sum = parity(sum, a, b);
  return _mm512_ternarylogic_epi64(a, b, sum, 0xd4);
}
inline V or_xor(V a, V b, V c) { return _mm512_ternarylogic_epi64(a, b, c, 0xf6); }  // a | (b ^ c)
inline V select(V mask, V yes, V no) { return _mm512_ternarylogic_epi64(mask, yes, no, 0xca); }
inline bool any_bit(V x) { return _mm512_test_epi64_mask(x, x); }
inline uint64_t byte_bits(V mask) { return _mm512_movepi8_mask(mask); }

// The instruction numbers the rows of its matrix from the last byte.
constexpr bool kLastBitFirst = true;
inline V transpose_bits_fast(V x) {
  const V identity = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull));
  return _mm512_gf2p8affine_epi64_epi8(identity, x, 0);
}
inline V transpose_bits(V x) {
  const V reversed = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
  return transpose_bits_fast(_mm512_shuffle_epi8(x, reversed));
}

inline V one_hot(const uint8_t* p, int) {
  const V shifts = _mm512_set_epi64(4, 4, 4, 4, 0, 0, 0, 0);
  const V nibbles = low_nibbles(_mm512_srlv_epi64(broadcast_lane(p), shifts));
  const long long below_8 = static_cast<long long>(0x8040201008040201ull);
  const V bits = _mm512_set_epi64(below_8, 0, 0, below_8, below_8, 0, 0, below_8);
  return _mm512_shuffle_epi8(bits, nibbles);
}

// A byte that is not `from` .. from + 15 gets its upper bit set, for which a look-up gives 0.
inline V one_hot_bytes(const uint8_t* p, int) {
  const V from = _mm512_set_epi64(0x1818181818181818, 0x1818181818181818, 0x1010101010101010,
                                  0x1010101010101010, 0x0808080808080808, 0x0808080808080808, 0, 0);
  const V bits =
      _mm512_broadcast_i32x4(_mm_set_epi64x(0, static_cast<long long>(0x8040201008040201ull)));
  return lookup(bits, _mm512_adds_epu8(sub8(broadcast_lane(p), from), broadcast8(0x70)));
}

// Sums of the bytes at even and at odd places. Of the even ones 256 times the odd ones are taken
// along, so that bytes need not be masked to be added.
struct V16 {
  V both, odd;
};
inline V16 load16(const uint16_t* p) {
  const V low = _mm512_loadu_si512(p), high = _mm512_loadu_si512(p + 32);
  const V evens = _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32,
                                   30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const V odds = _mm512_add_epi16(evens, _mm512_set1_epi16(1));
  const V odd = _mm512_permutex2var_epi16(low, odds, high);
  return {_mm512_add_epi16(_mm512_permutex2var_epi16(low, evens, high), _mm512_slli_epi16(odd, 8)),
          odd};
}
inline void store16(uint16_t* p, V16 v) {
  const V first = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39,
                                   7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  const V second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  const V even = _mm512_sub_epi16(v.both, _mm512_slli_epi16(v.odd, 8));
  _mm512_storeu_si512(p, _mm512_permutex2var_epi16(even, first, v.odd));
  _mm512_storeu_si512(p + 32, _mm512_permutex2var_epi16(even, second, v.odd));
}
inline V16 broadcast16(uint16_t x) {
  return {_mm512_set1_epi16(static_cast<short>(x * 257)), _mm512_set1_epi16(static_cast<short>(x))};
}
inline V16 spread(V bytes, int shift) {
  const V odd = _mm512_srli_epi16(bytes, 8);
  if (!shift) return {bytes, odd};
  const __m128i by = _mm_cvtsi32_si128(shift);
  return {_mm512_sll_epi16(bytes, by), _mm512_sll_epi16(odd, by)};
}
inline V16 add16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {_mm512_add_epi16(sum.both, x.both), _mm512_add_epi16(sum.odd, x.odd)};
}
inline V16 sub16(V16 sum, V bytes, int shift) {
  const V16 x = spread(bytes, shift);
  return {_mm512_sub_epi16(sum.both, x.both), _mm512_sub_epi16(sum.odd, x.odd)};
}

inline int append_equal(const int32_t* labels, int32_t wanted, int32_t first, int32_t* out) {
  const V places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const auto chosen =
      _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(labels), _mm512_set1_epi32(wanted));
  const V numbers = _mm512_add_epi32(places, _mm512_set1_epi32(first));
  // To a register first: compressing to memory is very slow on some processors.
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(chosen, numbers));
  return std::popcount(bits_of(chosen));
}

inline V broadcast_word(uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
inline V multiply_words(V a, uint64_t b) { return _mm512_mullo_epi64(a, broadcast_word(b)); }
// As in hashing.hpp, eight at a time.
inline V mix_words(V z) {
  z = multiply_words(xor_(z, _mm512_srli_epi64(z, 30)), kMixFirst);
  z = multiply_words(xor_(z, _mm512_srli_epi64(z, 27)), kMixSecond);
  return xor_(z, _mm512_srli_epi64(z, 31));
}

inline V fold_words(uint64_t key, V x) {
  return mix_words(add64(broadcast_word(key + kGolden), multiply_words(x, kGolden)));
}

// Of the centers offered to a row, the one of the smallest rank wins. Tied rows stand close
// together, eight to a vector.
class TieBreaker {
 public:
  template <class Hash>
  TieBreaker(uint64_t rows, uint64_t key, const Hash& row_hash)
      : rows_(rows), n_vectors_((std::popcount(rows) + 7) / 8) {
    alignas(64) uint64_t hashes[64];
    int n = 0;
    for (uint64_t left = rows; left; left &= left - 1)
      hashes[n++] = row_hash(std::countr_zero(left));
    for (int v = 0; v < n_vectors_; ++v) {
      key_[v] = fold_words(key, _mm512_load_si512(hashes + 8 * v));
      best_[v] = broadcast_word(~uint64_t{0});
    }
  }

  void offer(uint64_t rows, int32_t cluster, int center) {
    uint64_t close = _pext_u64(rows, rows_);
    if (!close) return;
    const V step = broadcast_word(kGolden * (static_cast<uint64_t>(cluster) + 1));
    const V wins = broadcast_word(static_cast<uint64_t>(center));
    for (int v = 0; close; ++v, close >>= 8) {
      const auto offered = static_cast<__mmask8>(close);
      if (!offered) continue;
      const V rank = mix_words(add64(key_[v], step));
      const __mmask8 lower = _mm512_mask_cmplt_epu64_mask(offered, rank, best_[v]);
      best_[v] = _mm512_mask_mov_epi64(best_[v], lower, rank);
      winner_[v] = _mm512_mask_mov_epi64(winner_[v], lower, wins);
    }
  }

  template <class D>
  void write(D* centers) const {
    alignas(64) uint64_t winners[64];
    for (int v = 0; v < n_vectors_; ++v) _mm512_store_si512(winners + 8 * v, winner_[v]);
    const uint64_t* winner = winners;
    for (uint64_t left = rows_; left; left &= left - 1)
      centers[std::countr_zero(left)] = static_cast<D>(*winner++);
  }

 private:
  uint64_t rows_;
  int n_vectors_;
  V key_[8], best_[8], winner_[8];
};

// Lets `last` take the place of `center` in those of n rows where its rank is lower.
template <class Hash, class D>
inline void settle_pairs(const int32_t* rows, int64_t n, uint64_t key, const Hash& row_hash,
                         const int32_t* clusters, const D* last, D* center) {
  for (int64_t first = 0; first < n; first += 8) {
    alignas(64) uint64_t hashes[8] = {}, steps[2][8] = {};
    const int m = n - first < 8 ? static_cast<int>(n - first) : 8;
    for (int i = 0; i < m; ++i) {
      const int32_t row = rows[first + i];
      hashes[i] = row_hash(row);
      steps[0][i] = kGolden * (static_cast<uint64_t>(clusters[center[row]]) + 1);
      steps[1][i] = kGolden * (static_cast<uint64_t>(clusters[last[row]]) + 1);
    }
    const V row_key = fold_words(key, _mm512_load_si512(hashes));
    const V rank = mix_words(add64(row_key, _mm512_load_si512(steps[0])));
    const V other = mix_words(add64(row_key, _mm512_load_si512(steps[1])));
    uint64_t lower = bits_of(_mm512_cmplt_epu64_mask(other, rank)) & ((1u << m) - 1);
    for (; lower; lower &= lower - 1) {
      const int32_t row = rows[first + std::countr_zero(lower)];
      center[row] = last[row];
    }
  }
}

inline uint64_t sum_factors(const int32_t* label, const uint64_t* label_factors, int64_t n_clusters,
                            int64_t n, int64_t first_number) {
  V sum = zero();
  V row = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  row =
      multiply_words(add64(row, broadcast_word(static_cast<uint64_t>(first_number) + 1)), kGolden);
  const V step = broadcast_word(8 * kGolden);
  const bool few = n_clusters <= 8;
  V table = zero();
  if (few) table = _mm512_maskz_loadu_epi64((1u << n_clusters) - 1, label_factors);
  int64_t r = 0;
  for (; r + 8 <= n; r += 8) {
    const __m256i labels = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(label + r));
    const V factor = few ? _mm512_permutexvar_epi64(_mm512_cvtepi32_epi64(labels), table)
                         : _mm512_i32gather_epi64(labels, label_factors, 8);
    sum = add64(sum, _mm512_mullo_epi64(mix_words(row), factor));
    row = add64(row, step);
  }
  alignas(64) uint64_t sums[8];
  _mm512_store_si512(sums, sum);
  uint64_t total = 0;
  for (uint64_t s : sums) total += s;
  for (; r < n; ++r) total += row_factor(first_number + r) * label_factors[label[r]];
  return total;
}

template <>
struct Lanes<uint8_t> {
  static constexpr int kCount = 64;
  static V load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static void store(uint8_t* p, V v) { _mm512_storeu_si512(p, v); }
  static V broadcast(int64_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
  static V min(V a, V b) { return _mm512_min_epu8(a, b); }
  static V if_equal(V a, V b, V yes, V no) {
    return _mm512_mask_mov_epi8(no, _mm512_cmpeq_epi8_mask(a, b), yes);
  }
  static uint64_t equal_bits(V a, V b) { return _mm512_cmpeq_epi8_mask(a, b); }
};

template <>
struct Lanes<uint16_t> {
  static constexpr int kCount = 32;
  static V load(const uint16_t* p) { return _mm512_loadu_si512(p); }
  static void store(uint16_t* p, V v) { _mm512_storeu_si512(p, v); }
  static V broadcast(int64_t x) { return _mm512_set1_epi16(static_cast<short>(x)); }
  static V min(V a, V b) { return _mm512_min_epu16(a, b); }
  static V max(V a, V b) { return _mm512_max_epu16(a, b); }
  static V add(V a, V b) { return _mm512_add_epi16(a, b); }
  static V if_equal(V a, V b, V yes, V no) {
    return _mm512_mask_mov_epi16(no, _mm512_cmpeq_epi16_mask(a, b), yes);
  }
  static uint64_t equal_bits(V a, V b) { return bits_of(_mm512_cmpeq_epi16_mask(a, b)); }
};

inline V add_numbers16(V a, V b) { return _mm512_add_epi16(a, b); }
inline V add_numbers32(V a, V b) { return _mm512_add_epi32(a, b); }
inline V min_numbers32(V a, V b) { return _mm512_min_epu32(a, b); }
inline void add_widened(V x, uint32_t* out) {
  const V low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(x));
  const V high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(x, 1));
  _mm512_storeu_si512(out, _mm512_add_epi32(_mm512_loadu_si512(out), low));
  _mm512_storeu_si512(out + 16, _mm512_add_epi32(_mm512_loadu_si512(out + 16), high));
}
inline uint32_t least_number32(V x) { return _mm512_reduce_min_epu32(x); }
inline uint64_t equal_bits32(V a, V b) { return bits_of(_mm512_cmpeq_epi32_mask(a, b)); }
inline uint64_t below_bits32(V a, V b) { return bits_of(_mm512_cmplt_epu32_mask(a, b)); }

}  // namespace softmodes::SOFTMODES_ISA
