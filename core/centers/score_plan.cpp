#include "centers/score_plan.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace softmodes {
namespace {

constexpr int64_t kLinesInCache = int64_t{1} << 20;  // by bytes there are fewer, longer tables
// From here on, to read lines is what takes time.
constexpr int64_t kLinesFarAway = int64_t{1} << 21;
constexpr int64_t kBonusBytes = int64_t{1} << 20;  // of lines of a sparse feature
constexpr int64_t kFewReadings = 2;                // of such a line: to make it takes longer
constexpr int64_t kEmptying = 4;                   // columns that take as long as to empty sums
constexpr int64_t kMostVectors = 8;                // of a line, summed in registers
constexpr uint32_t kHalf = std::numeric_limits<uint16_t>::max();

// A cell of one feature in more than one byte has no column of its own.
bool is_wide(const Layout& layout, int64_t feature) { return layout.bits[feature] > 8; }

// Lines of 16 values for both halves of each byte -> lines of its 256 values.
template <class T>
void join_halves(const T* halves, int64_t n_bytes, int64_t lanes, T* lines) {
  for (int64_t byte = 0; byte < n_bytes; ++byte, halves += 32 * lanes)
    for (int64_t v = 0; v < 256; ++v, lines += lanes) {
      const T *low = halves + (v & 15) * lanes, *high = halves + (16 + (v >> 4)) * lanes;
      for (int64_t c = 0; c < lanes; ++c) lines[c] = static_cast<T>(low[c] + high[c]);
    }
}

}  // namespace

Floor::Floor(const Layout& layout, const Centers& centers)
    : layout_(layout),
      centers_(std::get<ScoreCenters>(centers.kind)),
      least_(static_cast<size_t>(centers_.n_prices), std::numeric_limits<uint32_t>::max()),
      dearest_(static_cast<size_t>(layout.n_features)),
      sparse_(static_cast<size_t>(layout.n_features), -1) {
  fill_ranges(centers.n);
  everywhere_ = std::numeric_limits<int64_t>::max();
  for (int64_t c = 0; c < centers.n; ++c) {
    int64_t sum = centers_.base[c];
    for (const SparsePrices& feature : centers_.sparse) sum += feature.usual[c];
    everywhere_ = std::min(everywhere_, sum);
  }
  for (const SparsePrices& feature : centers_.sparse) {
    sparse_[feature.feature] = static_cast<int32_t>(dearest_usual_.size());
    dearest_usual_.push_back(*std::max_element(feature.usual, feature.usual + centers.n));
    const int64_t end = feature.indptr[centers_.n_values[feature.feature]];
    uint32_t most = 0;
    for (int64_t e = feature.indptr[0]; e < end; ++e) most = std::max(most, feature.bonus[e]);
    everywhere_ -= most;
  }
}

// Of some features at a time, so few that their ranges stay in the cache.
void Floor::fill_ranges(int64_t n_centers) {
  constexpr int64_t kAtOnce = 4096;
  const int64_t* offsets = centers_.offsets;
  std::vector<uint32_t> most;
  for (int64_t first = 0, last = 0; first < layout_.n_features; first = last) {
    const int64_t begin = offsets[first];
    while (last < layout_.n_features && (last == first || offsets[last + 1] - begin <= kAtOnce))
      ++last;
    const int64_t n = offsets[last] - begin;
    uint32_t* least = least_.data() + begin;
    most.assign(static_cast<size_t>(n), 0);
    for (int64_t c = 0; c < n_centers; ++c) {
      const uint32_t* prices = centers_.prices + c * centers_.n_prices + begin;
      for (int64_t i = 0; i < n; ++i) {
        least[i] = std::min(least[i], prices[i]);
        most[i] = std::max(most[i], prices[i]);
      }
    }
    for (int64_t j = first; j < last; ++j)
      for (int64_t i = offsets[j] - begin; i < offsets[j + 1] - begin; ++i)
        dearest_[j] = std::max(dearest_[j], most[i] - least[i]);
  }
}

int64_t Floor::of(const uint8_t* row) const {
  int64_t sum = everywhere_;
  for (int64_t j = 0; j < layout_.n_features; ++j) {
    const int32_t code = layout_.code(row, j);
    const bool value = code < centers_.n_values[j];
    if (sparse_[j] >= 0)
      sum += value ? int64_t{centers_.sparse[sparse_[j]].shared[code]}
                   : -int64_t{dearest_usual_[sparse_[j]]};
    else if (value)
      sum += least(j, code);
  }
  return sum;
}

LineShape ScorePlan::shape_of(const Layout& layout, int64_t line_bytes) {
  LineShape shape{layout.stride, layout.nibble_end, layout.n_of_bytes[0], false};
  shape.nibbles = shape.n_lines() * line_bytes > kLinesInCache;
  return shape;
}

int64_t ScorePlan::lanes_of(int64_t n_centers, int64_t bytes, const Kernels& kernels) {
  if (n_centers <= kFewLanes && bytes == 4) return kFewLanes;
  int64_t lanes = kernels.vector_bytes / bytes;
  if (bytes == 4 && n_centers <= kMostVectors * kernels.number_lanes) lanes = kernels.number_lanes;
  return ceil_div(n_centers, lanes) * lanes;
}

int64_t ScorePlan::most_bytes(const Layout& layout, int64_t n_centers, const Kernels& kernels) {
  const int64_t vector = kernels.vector_bytes;
  const int64_t line = ceil_div(n_centers * 4, vector) * vector;
  const LineShape nibbles{layout.stride, layout.nibble_end, layout.n_of_bytes[0], true};
  int64_t wide = 0;
  for (int64_t j = 0; j < layout.n_features; ++j)
    if (is_wide(layout, j)) wide += std::max(4 * 256 * n_centers, kBonusBytes);
  return std::max(nibbles.n_lines() * line, kLinesInCache) + wide + 12 * layout.n_cells() +
         std::max(CoarsePlan::most_bytes(n_centers, nibbles),
                  FinePlan::most_bytes(n_centers, nibbles));
}

ScorePlan::ScorePlan(const Layout& layout, const Centers& centers, int64_t n_rows,
                     const Kernels& kernels)
    : layout_(layout),
      floor_(layout, centers),
      by_cells_(cells_pay(layout, centers.n, n_rows, kernels)),
      clusters_(centers.clusters) {
  const auto& scores = std::get<ScoreCenters>(centers.kind);
  view_ = totals_view(layout, centers.n, clusters_.data(), kernels);
  if (!by_cells_) choose_lines(kernels);
  fill_start(scores);
  fill_wide(scores, n_rows);
  check_totals();
  if (by_cells_) return;
  lines_ = Buffer::to_be_filled(view_.n_groups * view_.group_bytes);
  view_.lines = lines_.data();
  view_.whole ? fill_lines<uint32_t>(scores) : fill_lines<uint16_t>(scores);
  if (CoarsePlan::suits(view_)) choose_levels(scores.resolution, kernels);
}

// Whether to sum the cells of so many rows takes less than to make lines of all values, which do
// not stay in the cache.
bool ScorePlan::cells_pay(const Layout& layout, int64_t n_centers, int64_t n_rows,
                          const Kernels& kernels) {
  const int64_t lanes = lanes_of(n_centers, 4, kernels);
  const int64_t n_prices = shape_of(layout, 4 * lanes).n_lines() * lanes;
  return 4 * n_prices > kLinesInCache && n_rows * layout.n_features * n_centers < n_prices;
}

// Cells of several bytes are not among them: the kernels add those.
void ScorePlan::add_cells(const TileRows& rows, uint32_t* totals) const {
  const int64_t k = view_.n_centers, lanes = view_.lanes();
  std::vector<int64_t> values;  // with a price
  const int64_t at_once = features_in_cache(4 * k * floor_.n_prices(), layout_.n_features);
  for_each_cells(layout_, rows, at_once,
                 [&](int64_t r, int64_t first, int64_t n, const int32_t* codes) {
                   values.resize(static_cast<size_t>(n));
                   int64_t m = 0;
                   uint32_t least = 0;
                   for (int64_t j = 0; j < n; ++j) {
                     values[m] = floor_.place(first + j, codes[j]);
                     m += !is_wide(layout_, first + j) && codes[j] < floor_.n_values(first + j);
                   }
                   for (int64_t i = 0; i < m; ++i) least += floor_.least(values[i]);
                   for (int64_t c = 0; c < k; ++c) {
                     uint32_t sum = 0;
                     for (int64_t i = 0; i < m; ++i) sum += floor_.price(c, values[i]);
                     totals[r * lanes + c] += sum - least;
                   }
                 });
}

void ScorePlan::choose_levels(int resolution, const Kernels& kernels) {
  if (kernels.has_fine && view_.n_centers <= FinePlan::kMostCenters) {
    fine_ = std::make_unique<FinePlan>(layout_, floor_, view_, share_limit(resolution));
    if (fine_->fits()) return;
    fine_.reset();
  }
  coarse_ = std::make_unique<CoarsePlan>(view_);
  if (!coarse_->fits()) coarse_.reset();
}

// Bytes of a row whose prices are added up in 16 bits together; none if those of one do not fit.
std::vector<LineRun> ScorePlan::cut_runs() const {
  const int64_t narrow = layout_.nibble_end, n_bytes = narrow + layout_.n_of_bytes[0];
  std::vector<uint64_t> most(static_cast<size_t>(n_bytes));
  for (int64_t j = 0; j < layout_.n_features; ++j)
    if (!is_wide(layout_, j)) most[layout_.byte[j]] += floor_.dearest()[j];
  std::vector<LineRun> runs;
  uint64_t sum = 0;
  for (int64_t i = 0; i <= n_bytes; ++i) {
    if (i < n_bytes && most[i] > kHalf) return {};
    if (i == n_bytes || sum + most[i] > kHalf) {
      runs.push_back({static_cast<int32_t>(std::min(i, narrow)),
                      static_cast<int32_t>(std::max<int64_t>(0, i - narrow))});
      sum = 0;
    }
    if (i < n_bytes) sum += most[i];
  }
  return runs;
}

// Lines of 16 bits take half of the room, but their sums have to be emptied now and then.
void ScorePlan::choose_lines(const Kernels& kernels) {
  const int64_t vector = kernels.vector_bytes, k = view_.n_centers;
  const auto shape_for = [&](int64_t bytes) {
    LineShape shape = shape_of(layout_, lanes_of(k, bytes, kernels) * bytes);
    shape.nibbles = shape.nibbles || ceil_div(k * bytes, vector) > kMostVectors;
    return shape;
  };
  const LineShape whole = shape_for(4), half = shape_for(2);
  const int64_t whole_vectors = ceil_div(4 * k, vector), half_vectors = ceil_div(2 * k, vector);
  runs_ = cut_runs();
  int64_t whole_work = whole_vectors * whole.n_columns();
  if (whole.n_lines() * whole_vectors * vector > kLinesFarAway) whole_work *= 2;
  const auto n_runs = static_cast<int64_t>(runs_.size());
  view_.whole = k <= kFewLanes || !n_runs ||
                whole_work <= half_vectors * (half.n_columns() + kEmptying * n_runs);
  view_.shape = view_.whole ? whole : half;
  view_.runs = runs_.data();
  view_.n_runs = n_runs;
  const int64_t bytes = view_.whole ? 4 : 2;
  cut_groups(view_, bytes, kernels);
  view_.group_bytes = view_.shape.n_lines() * view_.group * bytes;
}

void ScorePlan::cut_groups(ScoreView& view, int64_t bytes, const Kernels& kernels) {
  const int64_t lanes = lanes_of(view.n_centers, bytes, kernels);
  view.n_groups = ceil_div(lanes * bytes, kMostVectors * kernels.vector_bytes);
  view.group = lanes_of(ceil_div(lanes, view.n_groups), bytes, kernels);
}

// A bonus never lowers a total below 0, and cells that are no values raise it by at most what the
// usual prices differ by.
void ScorePlan::check_totals() const {
  uint64_t most = *std::max_element(start_.begin(), start_.begin() + view_.n_centers);
  for (const uint32_t price : floor_.dearest()) most += price;
  for (const WideColumn& column : wide_)
    if (column.other) most += *std::max_element(column.other, column.other + view_.n_centers);
  if (most >= kMostTotal)
    throw std::invalid_argument("prices of a row must sum to less than 2**30");
}

void ScorePlan::fill_start(const ScoreCenters& centers) {
  start_.assign(static_cast<size_t>(view_.lanes()), kNoCluster);
  for (int64_t c = 0; c < view_.n_centers; ++c) {
    int64_t sum = centers.base[c] - floor_.everywhere();
    for (const SparsePrices& feature : centers.sparse) sum += feature.usual[c];
    start_[c] = static_cast<uint32_t>(std::min<int64_t>(sum, kMostTotal));
  }
  view_.start = start_.data();
}

void ScorePlan::fill_wide(const ScoreCenters& centers, int64_t n_rows) {
  for (size_t i = 0; i < centers.sparse.size(); ++i) {
    const SparsePrices& sparse = centers.sparse[i];
    auto& other = wide_prices_.emplace_back();
    for (int64_t c = 0; c < view_.n_centers; ++c)
      other.push_back(floor_.dearest_usual()[i] - sparse.usual[c]);
    const int64_t j = sparse.feature;
    const uint32_t* no_value = other.data();  // `other` moves when lines are added
    wide_.push_back({layout_.byte[j], layout_.bits[j] / 8, centers.n_values[j], sparse.indptr,
                     sparse.clusters, sparse.bonus,
                     bonus_lines(sparse, centers.n_values[j], n_rows), no_value});
  }
  for (int64_t j = 0; j < layout_.n_features; ++j) {
    if (!is_wide(layout_, j) || centers.offsets[j] == centers.offsets[j + 1]) continue;
    auto& lines =
        wide_prices_.emplace_back(static_cast<size_t>(centers.n_values[j] * view_.lanes()));
    for (int64_t c = 0; c < view_.n_centers; ++c)
      for (int64_t v = 0; v < centers.n_values[j]; ++v)
        lines[v * view_.lanes() + c] = floor_.above(c, j, v);
    wide_.push_back({layout_.byte[j], layout_.bits[j] / 8, centers.n_values[j], nullptr, nullptr,
                     nullptr, lines.data(), nullptr});
  }
  view_.wide = wide_.data();
  view_.n_wide = static_cast<int64_t>(wide_.size());
  view_.by_column = view_.n_wide >= kManyWide && view_.lanes() <= kFewWideLanes;
}

// The bonuses of all clusters side by side, negative, where most values have one in most clusters,
// the lines stay in the cache, and there are rows enough to read them; else null.
const uint32_t* ScorePlan::bonus_lines(const SparsePrices& sparse, int64_t n_values,
                                       int64_t n_rows) {
  const int64_t lanes = view_.lanes(), n_bonuses = sparse.indptr[n_values] - sparse.indptr[0];
  if (4 * n_values * lanes > kBonusBytes || 4 * n_bonuses < n_values * lanes) return nullptr;
  if (n_rows < kFewReadings * n_values) return nullptr;
  auto& lines = wide_prices_.emplace_back(static_cast<size_t>(n_values * lanes));
  for (int64_t v = 0; v < n_values; ++v)
    for (int64_t e = sparse.indptr[v]; e < sparse.indptr[v + 1]; ++e)
      lines[v * lanes + sparse.clusters[e]] -= sparse.bonus[e];
  return lines.data();
}

// A byte of bits and nibbles costs what its halves do: these are made first.
template <class T>
void ScorePlan::fill_lines(const ScoreCenters& centers) {
  const LineShape& shape = view_.shape;
  LineShape halved = shape;
  halved.nibbles = true;
  const int64_t group = view_.group, n_halves = halved.narrow_bytes * halved.narrow_values();
  const int64_t moved = shape.narrow_bytes * shape.narrow_values() - n_halves;
  const std::vector<LineField> fields = line_fields(layout_, halved);
  std::vector<T> joined;
  for (int64_t g = 0; g < view_.n_groups; ++g) {
    T* lines = reinterpret_cast<T*>(lines_.data() + g * view_.group_bytes);
    if (!shape.nibbles) joined.assign(static_cast<size_t>(n_halves * group), 0);
    T* halves = shape.nibbles ? lines : joined.data();
    for (const LineField& field : fields) {
      T* first = field.first_line < n_halves ? halves : lines + moved * group;
      add_prices(centers, field, g, first + field.first_line * group);
    }
    if (!shape.nibbles) join_halves(halves, shape.narrow_bytes, group, lines);
  }
}

// Adds the prices of a feature to its lines.
template <class T>
void ScorePlan::add_prices(const ScoreCenters& centers, const LineField& field, int64_t g,
                           T* line) const {
  const int64_t group = view_.group, n = std::min(group, view_.n_centers - g * group);
  std::vector<T> prices(static_cast<size_t>((field.mask + 1) * group));  // by code and lane
  for (int64_t c = 0; c < n; ++c)
    for (int64_t v = 0; v < centers.n_values[field.feature]; ++v)
      prices[v * group + c] = static_cast<T>(floor_.above(g * group + c, field.feature, v));
  for (int64_t v = 0; v < field.n_lines; ++v, line += group) {
    const T* price = prices.data() + (v >> field.shift & field.mask) * group;
    for (int64_t c = 0; c < group; ++c) line[c] = static_cast<T>(line[c] + price[c]);
  }
}

}  // namespace softmodes
