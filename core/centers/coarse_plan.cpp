#include "centers/coarse_plan.hpp"

#include <algorithm>
#include <limits>

namespace softmodes {
namespace {

constexpr int64_t kManyClusters = 48;
constexpr int64_t kColumnsAtOnce = 10;  // whose levels are added up in 8 bits
constexpr int64_t kLevels = 255 / kColumnsAtOnce;
constexpr int64_t kMostLevels = 65535;
// Exact totals of so many take as long as those of all clusters together.
int64_t most_candidates(int64_t n_centers) { return std::max<int64_t>(3, n_centers / 24); }

template <class T>
const T* line_of(const ScoreView& view, int64_t group, int64_t line) {
  return reinterpret_cast<const T*>(view.lines + group * view.group_bytes) + line * view.group;
}

}  // namespace

bool CoarsePlan::suits(const ScoreView& view) {
  return view.n_centers > kManyClusters && view.n_centers <= kMostLevels && view.shape.nibbles &&
         !view.shape.byte_columns && !view.n_wide &&
         view.shape.n_lines() <= std::numeric_limits<uint16_t>::max();
}

int64_t CoarsePlan::most_bytes(int64_t n_centers, const LineShape& shape) {
  const int64_t lines = shape.narrow_bytes * 32;
  return 3 * (n_centers + kQuad) * lines + 2 * lines + 2 * n_centers;
}

ScratchSizes CoarsePlan::scratch_sizes(int64_t n_centers, int64_t lanes, const LineShape& shape) {
  ScratchSizes sizes;
  sizes.rows = kTileRows * shape.stride;
  sizes.tile = (2 * shape.narrow_bytes + kSpareColumns) * kTileRows;
  sizes.distances = std::max<int64_t>(int64_t{kGroup} * kTileRows * 2, 4 * lanes);
  sizes.planes = kTileRows * 2 * shape.narrow_bytes * 2;
  sizes.offers = kTileRows * most_candidates(n_centers) * int64_t{sizeof(Candidate)};
  sizes.groups = ceil_div(n_centers, kGroup) * kTileRows * 6;  // three numbers for each row
  sizes.notes = sizeof(CoarseNotes);
  return sizes;
}

CoarsePlan::CoarsePlan(const ScoreView& view) {
  TileView& tiles = view_.tiles;
  tiles.n_centers = view.n_centers;
  tiles.stride = view.shape.stride;
  tiles.nibble_columns = 2 * view.shape.narrow_bytes;
  tiles.distance_bytes = 2;
  tiles.quad_bytes = tiles.nibble_columns * kQuad * 16;
  tiles.clusters = view.clusters;
  view_.n_bytes = view.shape.narrow_bytes;
  view_.most_candidates = most_candidates(view.n_centers);
  view_.exact_start = view.start;
  view.whole ? fill_exact<uint32_t>(view) : fill_exact<uint16_t>(view);
  if (fits_) fill_levels(view);
}

// The prices of a line fit in 16 bits, also where they are kept in 32.
template <class T>
void CoarsePlan::fill_exact(const ScoreView& scores) {
  const int64_t n_lines = scores.shape.n_lines();
  exact_.resize(static_cast<size_t>(scores.n_centers * n_lines));
  std::vector<T> least(static_cast<size_t>(n_lines), std::numeric_limits<T>::max());
  T most = 0;
  for (int64_t group = 0; group < scores.n_groups; ++group) {
    const int64_t first = group * scores.group;
    const int64_t n = std::min(scores.group, scores.n_centers - first);
    for (int64_t line = 0; line < n_lines; ++line) {
      const T* price = line_of<T>(scores, group, line);
      for (int64_t c = 0; c < n; ++c) {
        exact_[(first + c) * n_lines + line] = static_cast<uint16_t>(price[c]);
        least[line] = std::min(least[line], price[c]);
        most = std::max(most, price[c]);
      }
    }
  }
  fits_ = most <= std::numeric_limits<uint16_t>::max();
  line_least_.assign(least.begin(), least.end());
  view_.exact = exact_.data();
  view_.line_least = line_least_.data();
}

void CoarsePlan::fill_levels(const ScoreView& scores) {
  const int64_t n_lines = scores.shape.n_lines(), n_columns = view_.tiles.nibble_columns;
  int64_t most = 1;
  for (int64_t c = 0; c < scores.n_centers; ++c)
    for (int64_t line = 0; line < n_lines; ++line)
      most = std::max<int64_t>(most, exact_[c * n_lines + line] - line_least_[line]);
  const int64_t unit = view_.unit = (most + kLevels - 1) / kLevels;
  std::vector<uint8_t> level_of(static_cast<size_t>(most) + 1);
  for (int64_t price = 0; price <= most; ++price)
    level_of[price] = static_cast<uint8_t>((price + unit / 2) / unit);

  tables_ = Buffer::to_be_filled((scores.n_centers + kQuad - 1) / kQuad * view_.tiles.quad_bytes);
  view_.tiles.tables = tables_.data();
  std::vector<int64_t> top(static_cast<size_t>(n_columns)),
      floor(static_cast<size_t>(scores.n_centers));
  for (int64_t c = 0; c < scores.n_centers; ++c) {
    int64_t low = scores.start[c], high = low;
    uint8_t* table = tables_.data() + c / kQuad * view_.tiles.quad_bytes + c % kQuad * 16;
    const uint16_t* exact = exact_.data() + c * n_lines;
    for (int64_t column = 0; column < n_columns; ++column, table += kQuad * 16) {
      int64_t least = std::numeric_limits<int64_t>::max(), dearest = -least;
      for (int64_t v = 0; v < 16; ++v) {
        const int64_t line = column * 16 + v, price = exact[line] - line_least_[line];
        const uint8_t level = table[v] = level_of[price];
        top[column] = std::max<int64_t>(top[column], level);
        least = std::min(least, price - unit * level);
        dearest = std::max(dearest, price - unit * level);
      }
      low += least;
      high += dearest;
    }
    floor[c] = floor_div(low, unit);
    view_.slack = std::max(view_.slack, high - floor[c] * unit);
  }
  view_.lowest = *std::min_element(floor.begin(), floor.end());
  int64_t largest = *std::max_element(floor.begin(), floor.end()) - view_.lowest;
  for (const int64_t levels : top) largest += levels;
  fits_ = largest <= kMostLevels;
  if (!fits_) return;
  for (const int64_t levels : floor) start_.push_back(static_cast<uint16_t>(levels - view_.lowest));
  view_.start = start_.data();
  cut_segments(top);
}

// Columns whose levels fit in 8 bits together.
void CoarsePlan::cut_segments(const std::vector<int64_t>& top) {
  const auto n = static_cast<int64_t>(top.size());
  for (int64_t from = 0, sum = 0, i = 0; i <= n; ++i) {
    if (i == n || sum + top[i] > 255) {
      segments_.push_back({SegmentKind::lookup, 0, static_cast<int32_t>(from),
                           static_cast<int32_t>(i - from), from * kQuad * 16});
      from = i;
      sum = 0;
    }
    if (i < n) sum += top[i];
  }
  view_.tiles.segments = segments_.data();
  view_.tiles.n_segments = static_cast<int64_t>(segments_.size());
}

}  // namespace softmodes
