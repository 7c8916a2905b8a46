// Totals of 32 bits in vectors: of the whole width, or four of them.
#pragma once

#include "isa/simd/isa.hpp"

namespace softmodes::SOFTMODES_ISA {

#if defined(__AVX512VNNI__)
constexpr bool kHasSixteens = true;
#else
constexpr bool kHasSixteens = false;
#endif

struct Wide {
  using Vec = V;
  static constexpr int kNumbers = kWidth / 4;
  static Vec load(const uint32_t* p) {
    return SOFTMODES_ISA::load(reinterpret_cast<const uint8_t*>(p));
  }
  static void store(uint32_t* p, Vec x) { SOFTMODES_ISA::store(reinterpret_cast<uint8_t*>(p), x); }
  static Vec broadcast(uint32_t x) { return broadcast32(&x); }
  static Vec add(Vec a, Vec b) { return add_numbers32(a, b); }
  static Vec min(Vec a, Vec b) { return min_numbers32(a, b); }
  static uint32_t least(Vec x) { return least_number32(x); }
  static uint64_t equal_bits(Vec a, Vec b) { return equal_bits32(a, b); }
  static uint64_t below_bits(Vec a, Vec b) { return below_bits32(a, b); }
};

#if defined(__AVX2__)
constexpr bool kHasQuads = true;
struct Quad {
  using Vec = __m128i;
  static constexpr int kNumbers = 4;
  static Vec load(const uint32_t* p) { return _mm_loadu_si128(reinterpret_cast<const Vec*>(p)); }
  static void store(uint32_t* p, Vec x) { _mm_storeu_si128(reinterpret_cast<Vec*>(p), x); }
  static Vec broadcast(uint32_t x) { return _mm_set1_epi32(static_cast<int>(x)); }
  static Vec add(Vec a, Vec b) { return _mm_add_epi32(a, b); }
  static Vec min(Vec a, Vec b) { return _mm_min_epu32(a, b); }
  static uint32_t least(Vec x) {
    x = min(x, _mm_shuffle_epi32(x, 0x4e));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(min(x, _mm_shuffle_epi32(x, 0xb1))));
  }
  static uint64_t equal_bits(Vec a, Vec b) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(a, b))));
  }
  static uint64_t below_bits(Vec a, Vec b) {
    return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(b, a))));
  }
};
#else
constexpr bool kHasQuads = false;
using Quad = Wide;  // vectors of 16 bytes
static_assert(Wide::kNumbers == 4);
#endif

// Half of the widest, where that would be filled with lanes that hold nothing.
#if defined(__AVX512F__)
constexpr bool kHasFine = true;
struct Half {
  using Vec = __m256i;
  static constexpr int kNumbers = 8;
  static Vec load(const uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const Vec*>(p)); }
  static void store(uint32_t* p, Vec x) { _mm256_storeu_si256(reinterpret_cast<Vec*>(p), x); }
  static Vec broadcast(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  static Vec add(Vec a, Vec b) { return _mm256_add_epi32(a, b); }
  static Vec min(Vec a, Vec b) { return _mm256_min_epu32(a, b); }
  static uint32_t least(Vec x) {
    return Quad::least(Quad::min(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
  }
  static uint64_t equal_bits(Vec a, Vec b) { return bits_of(_mm256_cmpeq_epi32_mask(a, b)); }
  static uint64_t below_bits(Vec a, Vec b) { return bits_of(_mm256_cmplt_epu32_mask(a, b)); }
};
#else
constexpr bool kHasFine = false;
using Half = Wide;
#endif

// Calls f with the kind of vectors that so many lanes are kept in.
template <class F>
inline auto with_numbers(int64_t lanes, const F& f) {
  if (lanes == Quad::kNumbers) return f(Quad{});
  return lanes % Wide::kNumbers ? f(Half{}) : f(Wide{});
}

}  // namespace softmodes::SOFTMODES_ISA
