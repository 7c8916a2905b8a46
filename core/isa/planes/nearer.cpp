// Rows nearer than before by planes, for one instruction set.
#include "isa/planes/compare.hpp"

namespace softmodes::SOFTMODES_ISA {

// Numbers below 2^n_bits as planes; those beyond as the largest, missing ones as 0.
static void slice_numbers(const uint32_t* numbers, int64_t n, int n_bits, V* planes) {
  const uint32_t largest = (1u << n_bits) - 1;
  alignas(64) uint8_t rows[kPlaneRows * 16] = {}, bits[kPlaneRows * 16];
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t x = numbers[i] < largest ? numbers[i] : largest;
    rows[16 * i] = static_cast<uint8_t>(x);
    rows[16 * i + 1] = static_cast<uint8_t>(x >> 8);
  }
  slice_rows(rows, 16, 2, bits);
  for (int b = 0; b < n_bits; ++b) planes[b] = load(bits + b * kWidth);
}

// Of many rows the distances are wanted as numbers at once, of few one by one.
Found* append_rows(int32_t center, const V* distance, int n_bits, V rows, Found* out) {
  constexpr int kWords = kWidth / 8, kMany = 12;
  uint64_t words[kWords], bits[kMostDistanceBits][kWords];
  std::memcpy(words, &rows, sizeof words);
  std::memcpy(bits, distance, n_bits * sizeof bits[0]);
  int n = 0;
  unsigned filled = 0;  // which words: most have no bit, and would cost a branch gone wrong
  for (int word = 0; word < kWords; ++word) {
    n += std::popcount(words[word]);
    filled |= (words[word] ? 1u : 0u) << word;
  }
  uint16_t numbers[kPlaneRows];
  if (n >= kMany) unslice(distance, n_bits, kPlaneRows, numbers);
  for (; filled; filled &= filled - 1) {
    const int word = std::countr_zero(filled);
    for (uint64_t left = words[word]; left; left &= left - 1) {
      const int bit = std::countr_zero(left), row = 64 * word + bit;
      uint32_t d = 0;
      if (n >= kMany)
        d = numbers[row];
      else
        for (int b = 0; b < n_bits; ++b) d |= static_cast<uint32_t>(bits[b][word] >> bit & 1) << b;
      *out++ = {center, row, d};
    }
  }
  return out;
}

int64_t nearer_by_planes(const PlaneView& view, const TileRows& rows, const uint32_t* current,
                         const Scratch& scratch, Found* found) {
  const Ahead ahead = start_tile(view, rows, scratch);
  V before[kMostDistanceBits];
  slice_numbers(current, rows.n, view.distance_bits, before);
  Question question{before, nullptr, found};
  compare_planes(view, scratch, ahead, question);
  return question.found - found;
}

}  // namespace softmodes::SOFTMODES_ISA
