// Portable vectors of 16 bytes, one lane, no intrinsics: the meaning of every operation.
#pragma once

#include <cstdint>
#include <cstring>

#include "isa/simd/append.hpp"
#include "isa/simd/lanes.hpp"
#include "isa/simd/ties.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kWidth = 16;           // bytes of a vector
constexpr int kLanes = kWidth / 16;  // table look-ups and interleaving stay inside a lane
constexpr int kFewCenters = 4;       // up to here rows of kLongRow bytes are not transposed
constexpr int kLongRow = 256;
constexpr bool kPopcount = true;   // is popcount8 faster than two look-ups?
constexpr int kPlaneCenters = 16;  // from here rows are compared by planes
constexpr int kPlanesAtOnce = 16;  // of which a sum is made; more are faster, but longer to compile

struct V {
  uint8_t at[kWidth];
};

template <class F>
inline V each(F f) {
  V r;
  for (int i = 0; i < kWidth; ++i) r.at[i] = static_cast<uint8_t>(f(i));
  return r;
}

inline V load(const uint8_t* p) {
  V r;
  std::memcpy(r.at, p, kWidth);
  return r;
}
// The first n bytes, n a multiple of 16 below kWidth, then zeros.
inline V load_front(const uint8_t*, int64_t) { return V{}; }
inline void store(uint8_t* p, V v) { std::memcpy(p, v.at, kWidth); }
inline V zero() { return V{}; }
inline V broadcast8(uint8_t x) {
  return each([=](int) { return x; });
}
inline V broadcast32(const uint32_t* p) {
  V r;
  for (int i = 0; i < kWidth; i += 4) std::memcpy(r.at + i, p, 4);
  return r;
}
inline V broadcast64(const uint8_t* p) {
  V r;
  for (int i = 0; i < kWidth; i += 8) std::memcpy(r.at + i, p, 8);
  return r;
}
// Lane l holds 16 bytes of row l.
inline V load_lanes(const uint8_t* const* rows) { return load(rows[0]); }
// Every lane holds the same 16 bytes.
inline V broadcast_lane(const uint8_t* p) { return load(p); }

struct Words {
  uint64_t at[kWidth / 8];
};
inline Words words_of(V x) {
  Words r;
  std::memcpy(r.at, x.at, kWidth);
  return r;
}
inline V bytes_of(Words x) {
  V r;
  std::memcpy(r.at, x.at, kWidth);
  return r;
}
// Word by word: of bytes, sums of planes would take minutes to compile.
template <class F>
inline V each_word(V a, V b, F f) {
  const Words x = words_of(a), y = words_of(b);
  Words r;
  for (int i = 0; i < kWidth / 8; ++i) r.at[i] = f(x.at[i], y.at[i]);
  return bytes_of(r);
}

inline V and_(V a, V b) {
  return each_word(a, b, [](uint64_t x, uint64_t y) { return x & y; });
}
inline V or_(V a, V b) {
  return each_word(a, b, [](uint64_t x, uint64_t y) { return x | y; });
}
inline V xor_(V a, V b) {
  return each_word(a, b, [](uint64_t x, uint64_t y) { return x ^ y; });
}
inline V add8(V a, V b) {
  return each([&](int i) { return a.at[i] + b.at[i]; });
}
inline V sub8(V a, V b) {
  return each([&](int i) { return a.at[i] - b.at[i]; });
}
inline V equal8(V a, V b) {
  return each([&](int i) { return a.at[i] == b.at[i] ? 255 : 0; });
}
inline V lookup(V table, V index) {
  return each([&](int i) { return table.at[index.at[i]]; });
}
inline V popcount8(V x) {
  return each([&](int i) {
    unsigned a = x.at[i];
    a = a - ((a >> 1) & 0x55);
    a = (a & 0x33) + ((a >> 2) & 0x33);
    return (a + (a >> 4)) & 0x0f;
  });
}
// Number of bits in every 8 bytes.
inline V popcount64(V x) {
  Words sums = words_of(popcount8(x));
  for (uint64_t& a : sums.at) a = a * 0x0101010101010101ull >> 56;
  return bytes_of(sums);
}
inline V add64(V a, V b) {
  Words sums = words_of(a);
  for (int i = 0; i < kWidth / 8; ++i) sums.at[i] += words_of(b).at[i];
  return bytes_of(sums);
}
// Word j of a[i] becomes word i of a[j].
SOFTMODES_INLINE void transpose64(V (&a)[kWidth / 8]) {
  const Words first = words_of(a[0]), second = words_of(a[1]);
  a[0] = bytes_of({{first.at[0], second.at[0]}});
  a[1] = bytes_of({{first.at[1], second.at[1]}});
}
// Adds the words to out[0 .. kWidth / 8).
inline void add_words(V x, uint32_t* out) {
  for (int i = 0; i < kWidth / 8; ++i) out[i] += static_cast<uint32_t>(words_of(x).at[i]);
}
// For each of 8 vectors the sum of its 64-bit words, none above 32 bits.
SOFTMODES_INLINE void sums64(const V (&x)[8], uint32_t* out) {
  for (int i = 0; i < 8; ++i) {
    out[i] = 0;
    for (uint64_t a : words_of(x[i]).at) out[i] += static_cast<uint32_t>(a);
  }
}
inline V low_nibbles(V x) {
  return each([&](int i) { return x.at[i] & 15; });
}
inline V high_nibbles(V x) {
  return each([&](int i) { return x.at[i] >> 4; });
}
inline V interleave_low(V a, V b) {
  return each([&](int i) { return i % 2 ? b.at[i / 2] : a.at[i / 2]; });
}
inline V interleave_high(V a, V b) {
  return each([&](int i) { return i % 2 ? b.at[8 + i / 2] : a.at[8 + i / 2]; });
}
inline bool any_bit(V x) {
  uint64_t any = 0;
  for (uint64_t word : words_of(x).at) any |= word;
  return any;
}
// Bit i tells whether byte i is 255; the bytes are 0 or 255.
inline uint64_t byte_bits(V mask) {
  uint64_t bits = 0;
  for (int i = 0; i < kWidth; ++i) bits |= uint64_t{mask.at[i] != 0} << i;
  return bits;
}

inline uint64_t transpose_bits(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
  return x ^ t ^ (t << 28);
}
// Transposes the 8 x 8 bits of every 8 bytes: bit j of byte p becomes bit p of byte j.
inline V transpose_bits(V x) {
  for (int i = 0; i < kWidth; i += 8) {
    uint64_t word;
    std::memcpy(&word, x.at + i, 8);
    word = transpose_bits(word);
    std::memcpy(x.at + i, &word, 8);
  }
  return x;
}

// A quarter (see NibbleStream) of the one-hot bits of 16 bytes of nibbles.
inline V one_hot(const uint8_t* p, int quarter) {
  return each([=](int i) {
    const int nibble = quarter < 2 ? p[i] & 15 : p[i] >> 4;
    return nibble / 8 == quarter % 2 ? 1 << nibble % 8 : 0;
  });
}

// A quarter (see ByteStream) of the one-hot bits of 16 bytes.
inline V one_hot_bytes(const uint8_t* p, int quarter) {
  return each([=](int i) { return p[i] / 8 == quarter ? 1 << p[i] % 8 : 0; });
}

// Sums of 16 bits for the bytes of one vector.
struct V16 {
  uint16_t at[kWidth];
};
inline V16 load16(const uint16_t* p) {
  V16 r;
  std::memcpy(r.at, p, sizeof r.at);
  return r;
}
inline void store16(uint16_t* p, V16 v) { std::memcpy(p, v.at, sizeof v.at); }
inline V16 broadcast16(uint16_t x) {
  V16 r;
  for (auto& a : r.at) a = x;
  return r;
}
inline V16 add16(V16 sum, V bytes, int shift) {
  for (int i = 0; i < kWidth; ++i)
    sum.at[i] = static_cast<uint16_t>(sum.at[i] + (bytes.at[i] << shift));
  return sum;
}
inline V16 sub16(V16 sum, V bytes, int shift) {
  for (int i = 0; i < kWidth; ++i)
    sum.at[i] = static_cast<uint16_t>(sum.at[i] - (bytes.at[i] << shift));
  return sum;
}

// Numbers of 16 and 32 bits; those of 32 are below 2^31 where they are compared.
template <class T, class F>
inline V each_number(V a, V b, F f) {
  T x[kWidth / sizeof(T)], y[kWidth / sizeof(T)];
  std::memcpy(x, a.at, kWidth);
  std::memcpy(y, b.at, kWidth);
  for (size_t i = 0; i < kWidth / sizeof(T); ++i) x[i] = static_cast<T>(f(x[i], y[i]));
  V r;
  std::memcpy(r.at, x, kWidth);
  return r;
}
inline V add_numbers16(V a, V b) {
  return each_number<uint16_t>(a, b, [](int x, int y) { return x + y; });
}
inline V add_numbers32(V a, V b) {
  return each_number<uint32_t>(a, b, [](uint32_t x, uint32_t y) { return x + y; });
}
inline V min_numbers32(V a, V b) {
  return each_number<uint32_t>(a, b, [](uint32_t x, uint32_t y) { return x < y ? x : y; });
}
// Adds numbers of 16 bits to kWidth / 2 of 32.
inline void add_widened(V x, uint32_t* out) {
  uint16_t numbers[kWidth / 2];
  std::memcpy(numbers, x.at, kWidth);
  for (int i = 0; i < kWidth / 2; ++i) out[i] += numbers[i];
}
inline uint32_t least_number32(V x) {
  uint32_t numbers[kWidth / 4];
  std::memcpy(numbers, x.at, kWidth);
  uint32_t least = numbers[0];
  for (uint32_t a : numbers) least = a < least ? a : least;
  return least;
}
template <class F>
inline uint64_t number_bits32(V a, V b, F f) {
  uint32_t x[kWidth / 4], y[kWidth / 4];
  std::memcpy(x, a.at, kWidth);
  std::memcpy(y, b.at, kWidth);
  uint64_t bits = 0;
  for (int i = 0; i < kWidth / 4; ++i) bits |= uint64_t{f(x[i], y[i])} << i;
  return bits;
}
// Bit i tells whether number i of a is that of b; whether it is below.
inline uint64_t equal_bits32(V a, V b) {
  return number_bits32(a, b, [](uint32_t x, uint32_t y) { return x == y; });
}
inline uint64_t below_bits32(V a, V b) {
  return number_bits32(a, b, [](uint32_t x, uint32_t y) { return x < y; });
}

}  // namespace softmodes::SOFTMODES_ISA

#include "isa/simd/logic.hpp"
