#include "centers/sixteen_plan.hpp"

#include <algorithm>

namespace softmodes {
namespace {

constexpr int64_t kTileBytes = int64_t{1} << 18;  // of columns, in the cache
constexpr int64_t kFewRows = 256;                 // for which sums of marks hardly pay

// A multiple of 64, not of 128: columns then do not fall upon the same sets of a cache.
int64_t tile_rows(int64_t n_bytes) {
  const int64_t fit = kTileBytes / std::max<int64_t>(n_bytes, 1);
  return std::clamp(fit, kFewRows, kMostSixteenRows - 64) / 128 * 128 + 64;
}

}  // namespace

bool SixteenPlan::suits(const Layout& layout, int64_t n_centers, const Kernels& kernels) {
  return kernels.has_sixteens && n_centers <= kFewLanes && !layout.whole_bytes();
}

int64_t SixteenPlan::bytes(const Layout& layout) {
  constexpr int64_t kPrices = 4 * (kFewLanes - 1) * 2 * 16;  // of a byte
  constexpr int64_t kMarks = 2 * sizeof(CodeMark);           // of a cell, also while it is made
  return layout.nibble_end * (kPrices + 64) + layout.n_cells() * kMarks;
}

int64_t SixteenPlan::scratch_bytes(const Layout& layout) {
  return (layout.nibble_end + kMostPartBytes) * tile_rows(layout.nibble_end);
}

SixteenPlan::SixteenPlan(const Layout& layout, const ScoreView& scores) {
  view_.n_bytes = scores.shape.narrow_bytes;
  view_.tile_rows = tile_rows(view_.n_bytes);
  fill_prices(scores);
  fill_marks(layout, scores.shape);
}

// Lines of a byte hold the prices of both nibbles: those of the upper one alone are what it adds.
void SixteenPlan::fill_prices(const ScoreView& scores) {
  const auto* lines = reinterpret_cast<const uint32_t*>(scores.lines);
  const int64_t n_others = std::max<int64_t>(scores.n_centers, 2) - 1;
  const auto above_first = [](const uint32_t* lane, int64_t c) {
    return static_cast<int32_t>(lane[c] - lane[0]);
  };
  const auto price = [&](int64_t byte, int64_t c, int64_t nibble, int64_t value) {
    const int64_t first = byte * scores.shape.narrow_values();
    if (scores.shape.nibbles)
      return above_first(lines + (first + nibble * 16 + value) * kFewLanes, c);
    const int32_t sum = above_first(lines + (first + (value << 4 * nibble)) * kFewLanes, c);
    return nibble ? sum - above_first(lines + first * kFewLanes, c) : sum;
  };
  for (int64_t c = 1; c <= n_others; ++c) start_.push_back(above_first(scores.start, c));
  for (int64_t byte = 0; byte < view_.n_bytes; ++byte)
    for (int64_t c = 1; c <= n_others; ++c)
      for (int64_t nibble = 0; nibble < 2; ++nibble)
        for (int64_t value = 0; value < 16; ++value)
          prices_.push_back(price(byte, c, nibble, value));
  view_.start = start_.data();
  view_.prices = prices_.data();
}

void SixteenPlan::fill_marks(const Layout& layout, const LineShape& shape) {
  std::vector<std::vector<CodeMark>> by_nibble(static_cast<size_t>(2 * view_.n_bytes));
  for (const LineField& field : line_fields(layout, shape)) {
    const int64_t j = field.feature, shift = layout.shift[j] % 4;
    for (int64_t code = 1; code < layout.n_codes[j]; ++code) {
      CodeMark mark{field.first_line + (code << field.shift), field.first_line, {}};
      for (int64_t value = 0; value < 16; ++value)
        mark.holds[value] = (value >> shift & field.mask) == code;
      by_nibble[2 * layout.byte[j] + layout.shift[j] / 4].push_back(mark);
    }
  }
  for (const auto& marks : by_nibble) {
    first_mark_.push_back(static_cast<int64_t>(marks_.size()));
    marks_.insert(marks_.end(), marks.begin(), marks.end());
  }
  first_mark_.push_back(static_cast<int64_t>(marks_.size()));
  view_.marks = marks_.data();
  view_.first_mark = first_mark_.data();
}

}  // namespace softmodes
