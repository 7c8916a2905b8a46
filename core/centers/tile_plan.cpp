#include "centers/tile_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace softmodes {
namespace {

constexpr int kDigitBits = 4;  // feature weights are compared digit by digit
constexpr uint32_t kDigitMask = (1u << kDigitBits) - 1;

constexpr uint64_t kOnes = 0x0101010101010101;

// of[bits - 1][shift][code]: 1 where a field of a nibble that has the value holds the code.
struct Holding {
  ByValue of[4][4][16];
};

constexpr Holding holding() {
  Holding all{};
  for (int bits = 1; bits <= 4; ++bits)
    for (int shift = 0; shift < 4; ++shift) {
      std::array<uint8_t, 16> by_value[16] = {};
      for (int value = 0; value < 16; ++value)
        by_value[value >> shift & ((1 << bits) - 1)][value] = 1;
      for (int code = 0; code < 16; ++code)
        all.of[bits - 1][shift][code] = std::bit_cast<ByValue>(by_value[code]);
    }
  return all;
}

constexpr Holding kHolding = holding();

int n_digits(uint64_t largest, uint64_t in_one) {
  if (largest <= in_one) return 1;
  int n = 0;
  for (; largest; largest >>= kDigitBits) ++n;
  return n;
}

uint32_t digit(uint64_t value, int place, int digits) {
  return static_cast<uint32_t>(digits == 1 ? value : value >> (kDigitBits * place) & kDigitMask);
}

}  // namespace

bool TilePlan::suits_popcount(const Layout& layout, const Centers& centers) {
  const auto& kind = std::get<CodeCenters>(centers.kind);
  bool suits = !kind.feature_weight;
  for (int64_t j = 0; suits && j < layout.n_features; ++j)
    if (layout.byte[j] < layout.bit_bytes)
      for (int64_t c = 0; suits && c < centers.n; ++c) suits = kind.matches_something(layout, c, j);
  return suits;
}

TilePlan::TilePlan(const Layout& layout, const uint32_t* feature_weight, int64_t bit_columns)
    : layout_(layout), feature_weight_(feature_weight) {
  view_.stride = layout.stride;
  view_.bit_columns = bit_columns;
  view_.nibble_columns = 2 * (layout.nibble_end - bit_columns);
  view_.byte_columns = layout.whole_bytes();
  add_bits();
  add_nibbles();
  add_bytes();
  choose_distance_type();
}

TilePlan::TilePlan(const Layout& layout, const Centers& centers, const Kernels& kernels)
    : TilePlan(layout, std::get<CodeCenters>(centers.kind).feature_weight,
               kernels.popcount && suits_popcount(layout, centers) ? layout.bit_bytes : 0) {
  const auto& kind = std::get<CodeCenters>(centers.kind);
  clusters_ = centers.clusters;
  tables_ = Buffer::to_be_filled(table_bytes(centers.n));
  view_.n_centers = centers.n;
  view_.clusters = clusters_.data();
  view_.segments = segments_.data();
  view_.n_segments = static_cast<int64_t>(segments_.size());
  view_.ignored = ignored_.data();
  view_.n_ignored = static_cast<int64_t>(ignored_.size());
  view_.tables = tables_.data();
  for (int64_t c = 0; c < centers.n; ++c) {
    uint8_t* quad = tables_.data() + c / kQuad * view_.quad_bytes;
    const int seat = static_cast<int>(c % kQuad);
    fill_bits(kind, quad, seat, c);
    fill_nibbles(kind, quad, seat, c);
    fill_bytes(kind, quad, seat, c);
  }
}

void TilePlan::choose_distance_type() {
  uint64_t largest = 0;
  for (int64_t j = 0; j < layout_.n_features; ++j) largest += weight(j);
  if (largest >> 32) throw std::invalid_argument("feature_weight must sum to less than 2**32");
  const bool one_digit = std::all_of(segments_.begin(), segments_.end(),
                                     [](const Segment& s) { return s.shift == 0; });
  view_.distance_bytes = largest <= 255 && one_digit ? 1 : largest <= 65535 ? 2 : 4;
}

ScratchSizes TilePlan::scratch_sizes(const Layout& layout, const TileView& view) {
  ScratchSizes sizes;
  sizes.rows = kTileRows * layout.stride;
  sizes.tile =
      (view.bit_columns + view.nibble_columns + view.byte_columns + kSpareColumns) * kTileRows;
  sizes.distances = int64_t{kGroup} * kTileRows * view.distance_bytes;
  return sizes;
}

int64_t TilePlan::table_bytes(int64_t n_centers) const {
  return ceil_div(n_centers, kQuad) * view_.quad_bytes;
}

// Nibbles take more than bits that are counted.
ScratchSizes TilePlan::most_scratch(const Layout& layout) {
  TileView view{};
  view.nibble_columns = 2 * layout.nibble_end;
  view.byte_columns = layout.whole_bytes();
  view.distance_bytes = 4;
  return scratch_sizes(layout, view);
}

int64_t TilePlan::most_table_bytes(const Layout& layout, int64_t n_centers,
                                   const uint32_t* feature_weight) {
  return TilePlan(layout, feature_weight, 0).table_bytes(n_centers);
}

void TilePlan::add_segments(SegmentKind kind, int shift, int64_t first_column, int64_t n_steps,
                            int columns_per_step, int step_bytes, int64_t largest) {
  if (!n_steps) return;
  // Segments of equal length: a short one at the end would cost as much as a long one.
  const int64_t at_most = 255 / std::max<int64_t>(largest, 1);
  const int64_t n_segments = (n_steps + at_most - 1) / at_most;
  for (int64_t i = 0; i < n_segments; ++i) {
    const int64_t from = n_steps * i / n_segments, to = n_steps * (i + 1) / n_segments;
    segments_.push_back({kind, static_cast<uint8_t>(shift),
                         static_cast<int32_t>(first_column + from * columns_per_step),
                         static_cast<int32_t>(to - from), view_.quad_bytes + from * step_bytes});
  }
  view_.quad_bytes += n_steps * step_bytes;
}

void TilePlan::add_bits() {
  popcount_table_ = view_.quad_bytes;
  add_segments(SegmentKind::popcount, 0, 0, view_.bit_columns, 1, kQuad * 4, 8);
}

void TilePlan::list_by_nibble(int64_t n_columns) {
  const auto for_each = [&](const auto& visit) {
    for (int64_t j = 0; j < layout_.n_features; ++j) {
      const int64_t byte = layout_.byte[j] - view_.bit_columns;
      if (layout_.bits[j] <= 4 && byte >= 0) visit(j, 2 * byte + layout_.shift[j] / 4);
    }
  };
  first_in_nibble_.assign(static_cast<size_t>(n_columns) + 1, 0);
  for_each([&](int64_t, int64_t column) { ++first_in_nibble_[column + 1]; });
  std::partial_sum(first_in_nibble_.begin(), first_in_nibble_.end(), first_in_nibble_.begin());
  by_nibble_.resize(static_cast<size_t>(first_in_nibble_.back()));
  std::vector<int32_t> next = first_in_nibble_;
  for_each(
      [&](int64_t j, int64_t column) { by_nibble_[next[column]++] = static_cast<int32_t>(j); });
}

void TilePlan::add_nibbles() {
  const int64_t used = 2 * (layout_.bit_bytes - view_.bit_columns) + layout_.n_nibbles;
  list_by_nibble(used);
  uint64_t largest = 0;
  for (int64_t column = 0; column < used; ++column) {
    uint64_t sum = 0;
    for (const int32_t j : in_nibble(column)) sum += weight(j);
    largest = std::max(largest, sum);
  }
  const int digits = n_digits(largest, kDigitMask);
  for (int p = 0; p < digits; ++p) {
    nibble_tables_.push_back(view_.quad_bytes);
    add_segments(SegmentKind::lookup, kDigitBits * p, view_.bit_columns, used, 1, kQuad * 16,
                 digits == 1 ? static_cast<int64_t>(largest) : kDigitMask);
  }
}

void TilePlan::add_bytes() {
  const SegmentKind kinds[] = {SegmentKind::compare1, SegmentKind::compare2, SegmentKind::compare3};
  int64_t column = view_.bit_columns + view_.nibble_columns;
  auto feature = layout_.byte_features.begin();
  for (int size = 1; size <= 3; ++size) {
    const int64_t n = layout_.n_of_bytes[size - 1];
    uint64_t largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t j = feature[i];
      largest = std::max<uint64_t>(largest, weight(j));
      view_.base += weight(j);
      if (layout_.ignored[j] >= 0)
        ignored_.push_back({static_cast<int32_t>(column + i * size), size,
                            static_cast<uint32_t>(layout_.ignored[j]), weight(j)});
    }
    const int digits = n_digits(largest, kDigitMask);
    byte_tables_.emplace_back();
    for (int p = 0; p < digits; ++p) {
      byte_tables_.back().push_back(view_.quad_bytes);
      add_segments(kinds[size - 1], kDigitBits * p, column, n, size, kQuad * 4 * (size + 1),
                   digits == 1 ? static_cast<int64_t>(largest) : kDigitMask);
    }
    column += n * size;
    feature += n;
  }
}

void TilePlan::fill_bits(const CodeCenters& centers, uint8_t* quad, int seat,
                         int64_t center) const {
  auto* words = reinterpret_cast<uint32_t*>(quad + popcount_table_) + seat;
  for (int64_t j = 0; j < layout_.n_features; ++j)
    if (layout_.byte[j] < view_.bit_columns && centers.code(layout_, center, j) == 1)
      words[layout_.byte[j] * kQuad] |= 0x01010101u << layout_.shift[j];
}

void TilePlan::fill_nibbles(const CodeCenters& centers, uint8_t* quad, int seat,
                            int64_t center) const {
  const int digits = static_cast<int>(nibble_tables_.size());
  const auto n_columns = static_cast<int64_t>(first_in_nibble_.size()) - 1;
  for (int64_t column = 0; column < n_columns; ++column) {
    const int64_t at = (column * kQuad + seat) * 16;
    if (digits == 1) {
      const ByValue mismatch = small_mismatches(centers, center, column);
      std::memcpy(quad + nibble_tables_[0] + at, mismatch.data(), 16);
      continue;
    }
    uint32_t mismatch[16] = {};
    for (const int32_t j : in_nibble(column)) {
      const ByValue alike = same_by_value(centers, center, j);
      uint8_t same[16];
      std::memcpy(same, alike.data(), 16);
      for (int value = 0; value < 16; ++value) mismatch[value] += same[value] ? 0 : weight(j);
    }
    for (int p = 0; p < digits; ++p)
      for (int value = 0; value < 16; ++value)
        quad[nibble_tables_[p] + at + value] =
            static_cast<uint8_t>(digit(mismatch[value], p, digits));
  }
}

// What each value of a nibble differs by from a center, if it is one digit: all bytes at once.
ByValue TilePlan::small_mismatches(const CodeCenters& centers, int64_t center,
                                   int64_t column) const {
  ByValue sum{};
  for (const int32_t j : in_nibble(column)) {
    const ByValue same = same_by_value(centers, center, j);
    for (int half = 0; half < 2; ++half) sum[half] += (kOnes - same[half]) * weight(j);
  }
  return sum;
}

// 1 for the values of a nibble in which a feature holds the center's code, or one that is ignored.
ByValue TilePlan::same_by_value(const CodeCenters& centers, int64_t center, int64_t j) const {
  const ByValue* of = kHolding.of[layout_.bits[j] - 1][layout_.shift[j] % 4];
  ByValue same{};
  if (centers.matches_something(layout_, center, j)) same = of[centers.code(layout_, center, j)];
  if (const int32_t ignored = layout_.ignored[j]; ignored >= 0 && ignored < 16)
    for (int half = 0; half < 2; ++half) same[half] |= of[ignored][half];
  return same;
}

void TilePlan::fill_bytes(const CodeCenters& centers, uint8_t* quad, int seat,
                          int64_t center) const {
  auto feature = layout_.byte_features.begin();
  for (int size = 1; size <= 3; ++size) {
    const auto& tables = byte_tables_[size - 1];
    const int digits = static_cast<int>(tables.size());
    for (int64_t i = 0; i < layout_.n_of_bytes[size - 1]; ++i) {
      const int32_t j = *feature++;
      if (!centers.matches_something(layout_, center, j)) continue;  // worth nothing
      const auto code = static_cast<uint32_t>(centers.code(layout_, center, j));
      for (int p = 0; p < digits; ++p) {
        auto* words =
            reinterpret_cast<uint32_t*>(quad + tables[p]) + (i * kQuad + seat) * (size + 1);
        for (int b = 0; b < size; ++b) words[b] = (code >> (8 * b) & 255) * 0x01010101u;
        words[size] = digit(weight(j), p, digits) * 0x01010101u;
      }
    }
  }
}

}  // namespace softmodes
