#include "passes/cluster_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace softmodes {

constexpr int64_t kPlainWords = 128, kPieceWords = 512;

static int64_t ceil_16(int64_t n) { return (n + 15) / 16 * 16; }

CounterMap::CounterMap(const Layout& layout) : layout_(layout) {
  shape_.stride = layout.stride;
  shape_.plain_pieces = ceil_16(layout.plain_end) / 16;
  shape_.mixed_begin = layout.plain_end / 16 * 16;
  if (layout.plain_end < layout.nibble_end)
    shape_.mixed_pieces = (ceil_16(layout.nibble_end) - shape_.mixed_begin) / 16;
  int64_t few_end = 0;
  for (int64_t j = 0; j < layout.n_features; ++j)
    if (layout.bits[j] == 8 && layout.n_codes[j] <= kFewCodes)
      few_end = std::max<int64_t>(few_end, layout.byte[j] + 1);
  shape_.few_begin = layout.nibble_end / 16 * 16;
  if (few_end) shape_.few_pieces = (ceil_16(few_end) - shape_.few_begin) / 16;
  mixed_ = shape_.plain_pieces * kPlainWords;
  few_ = mixed_ + shape_.mixed_pieces * kPieceWords;
  size_ = few_ + shape_.few_pieces * kPieceWords;
  byte_counters_.resize(static_cast<size_t>(layout.n_features));
  for (int64_t j = 0; j < layout.n_features; ++j) {
    if (layout.bits[j] != 8 || layout.n_codes[j] <= kFewCodes) continue;
    bytes_.push_back({layout.byte[j], layout.n_codes[j]});
    byte_counters_[j] = size_;
    size_ += layout.n_codes[j];
  }
  shape_.bytes = bytes_.data();
  shape_.n_bytes = static_cast<int64_t>(bytes_.size());
}

void CounterMap::add_to_cells(const uint32_t* counters, int64_t n_rows, int64_t* cells) const {
  for (int64_t j = 0; j < layout_.n_features; ++j) {
    int64_t* mine = cells + layout_.offsets[j];
    if (layout_.byte[j] < layout_.plain_end)
      add_plain(counters, j, n_rows, mine);
    else if (layout_.byte[j] < layout_.nibble_end)
      add_mixed(counters, j, mine);
    else if (layout_.bits[j] == 8 && layout_.n_codes[j] <= kFewCodes)
      add_few(counters, j, mine);
    else if (layout_.bits[j] == 8)
      add_byte(counters, j, mine);
  }
}

// At most 3 codes: code 1 sets the lower bit, code 2 the upper, code 0 none.
void CounterMap::add_plain(const uint32_t* counters, int64_t feature, int64_t n_rows,
                           int64_t* cells) const {
  const uint32_t* bits = counters + layout_.byte[feature] * 8 + layout_.shift[feature];
  int64_t others = 0;
  for (int32_t code = 1; code < layout_.n_codes[feature]; ++code) {
    cells[code] += bits[code - 1];
    others += bits[code - 1];
  }
  cells[0] += n_rows - others;
}

// Adds the counts of a field's values, summed over what else is in its nibble.
template <int kBits, int kShift>
static void add_field(const uint32_t* values, int64_t n_codes, int64_t* cells) {
  constexpr int kCodes = 1 << kBits;
  uint32_t sums[kCodes] = {};
  for (int value = 0; value < 16; ++value)
    sums[value >> kShift & (kCodes - 1)] += values[value / 8 * 128 + value % 8];
  for (int64_t code = 0; code < n_codes; ++code) cells[code] += sums[code];
}

template <int kBits>
static void add_field(int shift, const uint32_t* values, int64_t n_codes, int64_t* cells) {
  switch (shift) {
    case 0:
      return add_field<kBits, 0>(values, n_codes, cells);
    case 1:
      return add_field<kBits, 1>(values, n_codes, cells);
    case 2:
      return add_field<kBits, 2>(values, n_codes, cells);
    default:
      return add_field<kBits, 3>(values, n_codes, cells);
  }
}

void CounterMap::add_mixed(const uint32_t* counters, int64_t feature, int64_t* cells) const {
  const int64_t byte = layout_.byte[feature] - shape_.mixed_begin;
  const int high = layout_.shift[feature] / 4, shift = layout_.shift[feature] % 4;
  const uint32_t* values = counters + mixed_ + byte / 16 * kPieceWords + high * 256 + byte % 16 * 8;
  const int64_t n_codes = layout_.n_codes[feature];
  switch (layout_.bits[feature]) {
    case 1:
      return add_field<1>(shift, values, n_codes, cells);
    case 2:
      return add_field<2>(shift, values, n_codes, cells);
    case 3:
      return add_field<3>(shift, values, n_codes, cells);
    default:
      return add_field<4>(shift, values, n_codes, cells);
  }
}

void CounterMap::add_few(const uint32_t* counters, int64_t feature, int64_t* cells) const {
  const int64_t byte = layout_.byte[feature] - shape_.few_begin;
  const uint32_t* values = counters + few_ + byte / 16 * kPieceWords + byte % 16 * 8;
  for (int32_t code = 0; code < layout_.n_codes[feature]; ++code)
    cells[code] += values[code / 8 * 128 + code % 8];
}

void CounterMap::add_byte(const uint32_t* counters, int64_t feature, int64_t* cells) const {
  const uint32_t* values = counters + byte_counters_[feature];
  for (int32_t code = 0; code < layout_.n_codes[feature]; ++code) cells[code] += values[code];
}

// So few rows are counted before counters are made, and added to cells.
constexpr int64_t kFewRows = 8;

static void count_cells(const Block& block, const int32_t* order, int64_t n, int64_t* cells) {
  const Layout& layout = block.layout;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* row = block.rows + order[i] * layout.stride;
    const int64_t weight = block.weight ? block.weight[order[i]] : 1;
    for (int64_t j = 0; j < layout.n_features; ++j)
      if (layout.bits[j] <= 8) cells[layout.offsets[j] + layout.code(row, j)] += weight;
  }
}

void count_rows(const CounterMap& map, const Block& block, const int32_t* order, int64_t n,
                int64_t* cells) {
  if (block.weight || n <= kFewRows) return count_cells(block, order, n, cells);
  std::vector<uint32_t> words(static_cast<size_t>(map.size()));
  kernels().count(map.shape(), block.rows, order, n, words.data());
  map.add_to_cells(words.data(), n, cells);
}

}  // namespace softmodes
