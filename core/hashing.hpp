// Addressed randomness: hashes of (key, index) that every kernel, thread and backend computes
// alike.
#pragma once

#include <cstdint>
#include <cstring>

namespace softmodes {

// `static`: each instruction set compiles its own copy, and the linker must not merge them.

static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;
static constexpr uint64_t kFingerprintKey = 0x736f66746d6f6465ull;
static constexpr uint64_t kWordKey = 0x726f7720776f7264ull;

static constexpr uint64_t kMixFirst = 0xbf58476d1ce4e5b9ull;
static constexpr uint64_t kMixSecond = 0x94d049bb133111ebull;

static constexpr uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * kMixFirst;
  z = (z ^ (z >> 27)) * kMixSecond;
  return z ^ (z >> 31);
}

static constexpr uint64_t fold(uint64_t h, uint64_t x) { return mix(h + kGolden * (x + 1)); }

// High 64 bits of a product: maps a uniform 64-bit word to a uniform integer in [0, bound).
static constexpr uint64_t scale_to(uint64_t uniform, uint64_t bound) {
  const uint64_t a = uniform >> 32, b = uniform & 0xffffffffu;
  const uint64_t c = bound >> 32, d = bound & 0xffffffffu;
  const uint64_t middle = a * d + ((b * d) >> 32);
  const uint64_t carry = (middle & 0xffffffffu) + b * c;
  return a * c + (middle >> 32) + (carry >> 32);
}

// A row's half of the fingerprint; multiplied by label_factor and summed over the rows mod 2^64.
static constexpr uint64_t row_factor(int64_t row) {
  return mix(kGolden * (static_cast<uint64_t>(row) + 1));
}

// Odd, so that no label can erase a row from the sum.
static constexpr uint64_t label_factor(int64_t label) {
  return fold(kFingerprintKey, static_cast<uint64_t>(label)) | 1;
}

// Rows are hashed by their values: the sum of words of 4 bytes, each times a factor of 8, mod 2^64.
// Of words of 8 bytes the highest bits would cancel each other out, whatever the factors are.
static constexpr int64_t kHashedBytes = 4;

static constexpr uint64_t word_factor(int64_t word) {
  return fold(kWordKey, static_cast<uint64_t>(word)) | 1;
}

// What a byte is multiplied by.
static constexpr uint64_t byte_factor(int64_t byte) {
  return word_factor(byte / kHashedBytes) << (8 * (byte % kHashedBytes));
}

// A code, or a byte of one: where it lies in its byte of a row, and what it is multiplied by.
struct HashedBits {
  int32_t byte;
  uint8_t shift;
  uint8_t mask;
  uint64_t factor;
};

// How rows are hashed: by words, or, in another layout than that of the fit, code by code.
struct RowHash {
  int64_t stride;           // bytes of a row, a multiple of 16
  const uint64_t* factors;  // of the words
  const HashedBits* codes;  // or null
  int64_t n_codes;
};

static inline uint64_t hash_codes(const RowHash& hash, const uint8_t* row) {
  uint64_t sum = 0;
  for (const HashedBits* c = hash.codes; c != hash.codes + hash.n_codes; ++c)
    sum += (row[c->byte] >> c->shift & c->mask) * c->factor;
  return sum;
}

static inline uint64_t hash_row(const RowHash& hash, const uint8_t* row) {
  if (hash.codes) return hash_codes(hash, row);
  uint64_t sum = 0;
  const uint64_t* factor = hash.factors;
  for (int64_t byte = 0; byte < hash.stride; byte += 16, factor += 4) {
    uint32_t words[4];
    std::memcpy(words, row + byte, sizeof words);
    for (int w = 0; w < 4; ++w) sum += words[w] * factor[w];
  }
  return sum;
}

}  // namespace softmodes
