#include "centers/fine_plan.hpp"

#include <algorithm>
#include <limits>

#include "centers/score_plan.hpp"
#include "layout/line_fields.hpp"

namespace softmodes {
namespace {

constexpr int kColumnBits = 5;
constexpr int64_t kTable = int64_t{1} << kColumnBits;
constexpr int64_t kMostLevel = 65535;   // or more: levels are added with saturation
constexpr int64_t kUnitLevels = 60000;  // the rest is for what rounding adds
// Exact totals of so many clusters, and to list them, take as long as those of all together: by
// bits, or by lines.
int64_t most_hits(int64_t n_centers) { return n_centers / 8; }
int64_t most_hits_by_lines(int64_t n_centers) { return n_centers / 32; }

}  // namespace

// Columns are at most as many as nibbles.
int64_t FinePlan::most_bytes(int64_t n_centers, const LineShape& shape) {
  if (n_centers > kMostCenters) return 0;
  const int64_t nibbles = 2 * shape.narrow_bytes;
  const int64_t table = nibbles * kTable * 2, exact = std::max(nibbles * 32, shape.stride * 16);
  return (n_centers + kQuad) * (table + exact + 4);
}

ScratchSizes FinePlan::scratch_sizes(int64_t n_centers, const LineShape& shape) {
  ScratchSizes sizes;
  sizes.rows = kTileRows * shape.stride;
  sizes.tile = 2 * shape.narrow_bytes * kTileRows * 2;
  sizes.planes = (shape.narrow_bytes + kSpareColumns) * kTileRows;
  sizes.distances = (n_centers + kQuad) * kTileRows * 2;
  sizes.offers = kTileRows * (most_hits(n_centers) + kListedCenters) * int64_t{sizeof(Hit)};
  sizes.groups = kTileRows * (most_hits(n_centers) + kListedCenters) * int64_t{sizeof(Candidate)};
  sizes.notes = sizeof(CoarseNotes);
  return sizes;
}

FinePlan::FinePlan(const Layout& layout, const Floor& floor, const ScoreView& scores,
                   uint32_t window) {
  view_.bytes.n_centers = scores.n_centers;
  view_.bytes.stride = layout.stride;
  view_.bytes.bit_columns = layout.nibble_end;
  const bool by_bits = layout.plain_end == layout.nibble_end;
  view_.most_hits = kTileRows * (by_bits ? most_hits : most_hits_by_lines)(scores.n_centers);
  cut_columns(layout);
  choose_unit(floor, scores, window);
  fill_levels(floor, scores, window);
  if (!fits_) return;
  by_bits ? fill_bits(layout, floor, scores) : fill_lines(layout, floor, scores);
}

// Fields one after the other, as long as they fit in a column together.
void FinePlan::cut_columns(const Layout& layout) {
  std::vector<int64_t> order;
  const auto first_bit = [&](int64_t j) { return 8 * layout.byte[j] + layout.shift[j]; };
  for (int64_t j = 0; j < layout.n_features; ++j) order.push_back(j);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return first_bit(a) < first_bit(b); });
  int32_t begin = -kColumnBits;
  for (const int64_t j : order) {
    const int32_t bit = first_bit(j), bits = layout.bits[j];
    if (bit + bits > begin + kColumnBits) {
      begin = bit;
      columns_.push_back({bit / 8, bit % 8});
      fields_.emplace_back();
    }
    fields_.back().fields.push_back({j, bit - begin, bits});
  }
  view_.columns = columns_.data();
  view_.n_columns = static_cast<int64_t>(columns_.size());
}

// The least total of a row is at most the mean over the clusters, and that is at most what the
// dearest values cost on average.
void FinePlan::choose_unit(const Floor& floor, const ScoreView& scores, uint32_t window) {
  const int64_t k = scores.n_centers;
  int64_t sum = 0;
  for (int64_t c = 0; c < k; ++c) sum += scores.start[c];
  for (const Column& column : fields_)
    for (const Field& field : column.fields) {
      std::vector<int64_t> sums(static_cast<size_t>(floor.n_values(field.feature)));
      for (int64_t c = 0; c < k; ++c)
        for (size_t v = 0; v < sums.size(); ++v)
          sums[v] += floor.above(c, field.feature, static_cast<int64_t>(v));
      if (!sums.empty()) sum += *std::max_element(sums.begin(), sums.end());
    }
  most_least_ = ceil_div(sum, k);
  view_.unit = ceil_div(most_least_ + int64_t{window} + 1, kUnitLevels);
}

void FinePlan::fill_levels(const Floor& floor, const ScoreView& scores, uint32_t window) {
  const int64_t k = scores.n_centers, unit = view_.unit, n = view_.n_columns;
  tables_ = Buffer::to_be_filled(ceil_div(k, kQuad) * kQuad * n * kTable * 2);
  view_.tables = tables_.as<uint16_t>();
  std::vector<int64_t> lowest(static_cast<size_t>(k));
  for (int64_t c = 0; c < k; ++c) {
    int64_t low = scores.start[c], high = low;
    uint16_t* table = tables_.as<uint16_t>() + (c / kQuad * n * kQuad + c % kQuad) * kTable;
    for (const Column& column : fields_) {
      const Errors errors = fill_table(floor, c, column, table);
      low += errors.least;
      high += errors.most;
      table += kQuad * kTable;
    }
    lowest[c] = floor_div(low, unit);
    view_.slack = std::max(view_.slack, high - lowest[c] * unit);
  }
  view_.lowest = *std::min_element(lowest.begin(), lowest.end());
  start_.assign(static_cast<size_t>(ceil_div(k, kQuad) * kQuad), kMostLevel);
  for (int64_t c = 0; c < k; ++c)
    start_[c] = static_cast<uint16_t>(std::min(lowest[c] - view_.lowest, kMostLevel));
  view_.start = start_.data();
  const int64_t most = most_least_ / unit + 1 - view_.lowest + (view_.slack + window) / unit;
  fits_ = most < kMostLevel - 1 && view_.slack <= kMostLevel;
}

// Levels of all values of a column, as far as they go; bits beyond its fields mean nothing.
FinePlan::Errors FinePlan::fill_table(const Floor& floor, int64_t center, const Column& column,
                                      uint16_t* table) {
  uint32_t price[kTable] = {};
  int64_t filled = 1;
  for (const Field& field : column.fields) {
    for (; filled < int64_t{1} << field.shift; filled *= 2)
      std::copy_n(price, filled, price + filled);
    const int64_t n_values = std::min(floor.n_values(field.feature), int64_t{1} << field.bits);
    for (int64_t code = (int64_t{1} << field.bits) - 1; code >= 0; --code) {
      const uint32_t more = code < n_values ? floor.above(center, field.feature, code) : 0;
      for (int64_t v = 0; v < filled; ++v) price[code * filled + v] = price[v] + more;
    }
    filled <<= field.bits;
  }
  for (; filled < kTable; filled *= 2) std::copy_n(price, filled, price + filled);
  // Whatever the last bit of a level is, its error is taken along.
  const auto unit = static_cast<int32_t>(view_.unit);
  const float by_unit = 1.0f / static_cast<float>(unit);
  int32_t least = std::numeric_limits<int32_t>::max(), most = -least;
  for (int64_t v = 0; v < kTable; ++v) {
    const auto exact = static_cast<int32_t>(price[v]);
    const auto level = static_cast<int32_t>(static_cast<float>(exact) * by_unit + 0.5f);
    const int32_t error = exact - unit * level;
    const bool beyond = level >= kMostLevel;  // so is a total of it: its error tells nothing
    table[v] = static_cast<uint16_t>(beyond ? kMostLevel : level);
    least = std::min(least, beyond ? 0 : error);
    most = std::max(most, beyond ? 0 : error);
  }
  return {least, most};
}

// What each bit of a row adds, modulo 2^16: fields hold at most 3 codes, code 1 sets the lower bit
// and code 2 the upper one.
void FinePlan::fill_bits(const Layout& layout, const Floor& floor, const ScoreView& scores) {
  const int64_t k = scores.n_centers, n = view_.n_words = ceil_div(layout.nibble_end, 4);
  bits_ = Buffer::to_be_filled(k * n * 32 * 2);
  for (int64_t c = 0; c < k; ++c) {
    uint16_t* bits = bits_.as<uint16_t>() + c * n * 32;
    uint32_t start = scores.start[c];
    for (int64_t j = 0; j < layout.n_features; ++j) {
      const int64_t n_values = floor.n_values(j);
      const uint32_t none = n_values > 0 ? floor.above(c, j, 0) : 0;
      uint16_t* mine = bits + 8 * layout.byte[j] + layout.shift[j];
      for (int64_t code = 1; code < layout.n_codes[j]; ++code)
        mine[code - 1] =
            static_cast<uint16_t>((code < n_values ? floor.above(c, j, code) : 0) - none);
      start += none;
    }
    exact_start_.push_back(static_cast<uint16_t>(start));
  }
  view_.exact_start = exact_start_.data();
  view_.bits = bits_.as<uint16_t>();
}

// What each value of each nibble of a row adds, modulo 2^16.
void FinePlan::fill_lines(const Layout& layout, const Floor& floor, const ScoreView& scores) {
  const int64_t k = scores.n_centers, n_lines = scores.shape.n_lines();
  exact_.resize(static_cast<size_t>(k * n_lines));
  for (const LineField& field : line_fields(layout, scores.shape))
    for (int64_t c = 0; c < k; ++c) {
      uint16_t* line = exact_.data() + c * n_lines + field.first_line;
      for (int64_t v = 0; v < field.n_lines; ++v) {
        const int64_t code = v >> field.shift & field.mask;
        if (code < floor.n_values(field.feature))
          line[v] = static_cast<uint16_t>(line[v] + floor.above(c, field.feature, code));
      }
    }
  for (int64_t c = 0; c < k; ++c) exact_start_.push_back(static_cast<uint16_t>(scores.start[c]));
  view_.exact_start = exact_start_.data();
  view_.lines = exact_.data();
}

}  // namespace softmodes
