// The table of the kernels of one instruction set, and the small ones. The build compiles this file
// and its like once for each set, with SOFTMODES_ISA as the name and the compiler flags that go
// with it.
#include "isa/kernels.hpp"

#include <type_traits>

#include "isa/planes/slice.hpp"
#include "isa/scores/numbers.hpp"
#include "isa/transpose.hpp"
#include "logarithm.hpp"
#include "rounds/fixed_price.hpp"

namespace softmodes::SOFTMODES_ISA {

static void list_by_cluster(const int32_t* label, int64_t n, int64_t n_clusters, int32_t* order,
                            int64_t* start) {
  int64_t end = 0;
  for (int64_t c = 0; c < n_clusters; ++c) {
    start[c] = end;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
      end += append_equal(label + i, static_cast<int32_t>(c), static_cast<int32_t>(i), order + end);
    for (; i < n; ++i)
      if (label[i] == c) order[end++] = static_cast<int32_t>(i);
  }
  start[n_clusters] = end;
}

static int64_t sum(const uint32_t* values, int64_t n) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += values[i];
  return total;
}

template <class D>
static int64_t lower(const uint32_t* __restrict distances, const D* __restrict current,
                     const int64_t* weight, int64_t n, D* __restrict out) {
  using Sum = std::conditional_t<sizeof(D) == 2, uint32_t, int64_t>;  // holds that of a tile
  Sum sum = 0;
  if (!weight) {
    for (int64_t r = 0; r < n; ++r) {
      out[r] = static_cast<D>(distances[r]);
      sum += out[r] < current[r] ? out[r] : current[r];
    }
    return sum;
  }
  int64_t weighted = 0;
  for (int64_t r = 0; r < n; ++r) {
    out[r] = static_cast<D>(distances[r]);
    weighted += weight[r] * (out[r] < current[r] ? out[r] : current[r]);
  }
  return weighted;
}

static void log2(const double* __restrict numbers, int64_t n, double* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = log2_of(numbers[i]);
}

// Where a value is in no row of a cluster, as most are of tables with few rows for each, its count
// is the least that it may be, and so is its logarithm.
static void log2_of_counts(const int64_t* counts, const int64_t* least, const double* priors,
                           const double* logs, int64_t n, double* out) {
  constexpr int64_t kAtOnce = 64;  // numbers first: with a choice in it the other loop is slow
  double numbers[kAtOnce];
  for (int64_t first = 0; first < n; first += kAtOnce) {
    const int64_t some = n - first < kAtOnce ? n - first : kAtOnce;
    int64_t above = 0;
    if (least)
      for (int64_t i = 0; i < some; ++i) above |= counts[first + i] ^ least[first + i];
    else
      for (int64_t i = 0; i < some; ++i) above |= counts[first + i];
    if (!above) {
      for (int64_t i = 0; i < some; ++i) out[first + i] = logs[first + i];
      continue;
    }
    for (int64_t i = 0; i < some; ++i) {
      const double prior = priors[first + i];
      numbers[i] = prior > 0 ? static_cast<double>(counts[first + i]) + prior : 1.0;
    }
    log2(numbers, some, out + first);
  }
}

static uint64_t sum_of_squares(const int64_t* counts, int64_t n, uint64_t* squares) {
  uint64_t total = 0, whole = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto low = static_cast<uint64_t>(static_cast<uint32_t>(counts[i]));
    total += static_cast<uint64_t>(counts[i]);
    whole += low * low;
  }
  *squares = whole;
  return total;
}

static void fixed_prices(const double* __restrict prices, int64_t n, double scale,
                         uint32_t* __restrict out, int16_t* __restrict raised) {
  if (!raised) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<uint32_t>(rounded_price(prices[i] * scale));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const double price = prices[i] * scale;
    const int64_t rounded = rounded_price(price);
    out[i] = static_cast<uint32_t>(rounded);
    raised[i] = raised_by(price, rounded);
  }
}

static void pack_bits(const uint8_t* cells, const uint8_t* ones, int64_t n, uint8_t* out) {
  int64_t j = 0;
  for (; j + kWidth <= n; j += kWidth) {
    const uint64_t bits = byte_bits(equal8(load(cells + j), load(ones + j)));
    std::memcpy(out + j / 8, &bits, kWidth / 8);
  }
  for (; j < n; j += 8) {
    unsigned byte = 0;
    for (int64_t b = 0; b < 8 && j + b < n; ++b)
      byte |= static_cast<unsigned>(cells[j + b] == ones[j + b]) << b;
    out[j / 8] = static_cast<uint8_t>(byte);
  }
}

// Cells that hold one of two values met before are passed over, a vector at a time.
static void presence(const uint8_t* matrix, int64_t n_rows, int64_t n_columns, uint8_t* known,
                     uint8_t* seen) {
  constexpr int64_t kLearning = 64;  // rows from which the second value is taken
  uint8_t* other = known + n_columns;
  for (int64_t j = 0; j < n_columns; ++j) known[j] = other[j] = matrix[j];
  for (int64_t i = 0; i < n_rows; ++i) {
    const uint8_t* row = matrix + i * n_columns;
    int64_t j = 0;
    for (; j + kWidth <= n_columns; j += kWidth) {
      const V x = load(row + j);
      const V old = or_(equal8(x, load(known + j)), equal8(x, load(other + j)));
      if (i && byte_bits(old) == ~uint64_t{0} >> (64 - kWidth)) continue;
      for (int64_t b = j; b < j + kWidth; ++b) seen[b * 256 + row[b]] = 1;
      if (i < kLearning)
        for (int64_t b = j; b < j + kWidth; ++b)
          if (row[b] != known[b]) other[b] = row[b];
    }
    for (; j < n_columns; ++j) seen[j * 256 + row[j]] = 1;
  }
}

// In the files of the same instruction set.
void nearest_by_rows(const RowView&, const TileRows&, const Ties&, const Scratch&, Nearest);
void nearest_by_tiles(const TileView&, const TileRows&, int64_t, const Ties&, const Scratch&,
                      Nearest);
void nearest_by_planes(const PlaneView&, const TileRows&, const Ties&, const Scratch&, Nearest);
void nearest_by_scores(const ScoreView&, const TileRows&, int64_t, const Ties&, const Scratch&,
                       Nearest);
void score_totals(const ScoreView&, const TileRows&, uint32_t*);
int64_t share(const ScoreView&, const Powers&, const TileRows&, const Ties&, const uint32_t*,
              const Shares&);
int64_t nearest_by_coarse(const ScoreView&, const CoarseView&, const TileRows&, const Ties&,
                          const Scratch&, Nearest);
int64_t share_by_coarse(const ScoreView&, const CoarseView&, const Powers&, const TileRows&,
                        const Ties&, const Scratch&, const Shares&);
bool nearest_by_fine(const ScoreView&, const FineView&, const TileRows&, const Ties&,
                     const Scratch&, Nearest);
bool share_by_fine(const ScoreView&, const FineView&, const Powers&, const TileRows&, const Ties&,
                   const Scratch&, const Shares&);
void soft_by_quads(const ScoreView&, const Powers&, const TileRows&, const Ties&, uint32_t*,
                   const QuadSums&);
void soft_by_sixteens(const ScoreView&, const SixteenView&, const Powers&, const TileRows&,
                      const Ties&, uint8_t*, uint32_t*, const QuadSums&);
void share_in_place(const ScoreView&, const Powers&, const TileRows&, const Ties&, uint32_t*,
                    const Shares&);
void add_parts(const LineShape&, int64_t, const uint8_t*, int64_t, const uint32_t*, int64_t,
               uint32_t*);
void add_to_lines(const int32_t*, int64_t, int64_t, const uint32_t*, int64_t, uint32_t*);
void add_bit_parts(const uint8_t*, int64_t, int64_t, const RowPart*, int64_t, uint32_t*);
void distances_by_rows(const RowView&, const TileRows&, const Scratch&, uint32_t*);
void distances_by_tiles(const TileView&, const TileRows&, int64_t, int64_t, const Scratch&,
                        uint32_t*);
int64_t nearer_by_planes(const PlaneView&, const TileRows&, const uint32_t*, const Scratch&,
                         Found*);
void count(const CountShape&, const uint8_t*, const int32_t*, int64_t, uint32_t*);

extern const Kernels table;
const Kernels table = {
    .name = SOFTMODES_STRING(SOFTMODES_ISA),
    .popcount = kPopcount,
    .few_centers = kFewCenters,
    .long_row = kLongRow,
    .few_clusters = kFewClusters,
    .plane_centers = kPlaneCenters,
    .plane_rows = kPlaneRows,
    .vector_bytes = kWidth,
    .number_lanes = Half::kNumbers,
    .has_quads = kHasQuads,
    .has_sixteens = kHasSixteens,
    .has_fine = kHasFine,
    .has_bit_parts = kHasFine,
    .nearest_by_rows = nearest_by_rows,
    .nearest_by_tiles = nearest_by_tiles,
    .nearest_by_planes = nearest_by_planes,
    .nearest_by_scores = nearest_by_scores,
    .score_totals = score_totals,
    .share = share,
    .share_in_place = share_in_place,
    .add_parts = add_parts,
    .add_to_lines = add_to_lines,
    .add_bit_parts = add_bit_parts,
    .nearest_by_coarse = nearest_by_coarse,
    .share_by_coarse = share_by_coarse,
    .nearest_by_fine = nearest_by_fine,
    .share_by_fine = share_by_fine,
    .soft_by_quads = soft_by_quads,
    .soft_by_sixteens = soft_by_sixteens,
    .distances_by_rows = distances_by_rows,
    .distances_by_tiles = distances_by_tiles,
    .nearer_by_planes = nearer_by_planes,
    .lower16 = lower<uint16_t>,
    .lower32 = lower<uint32_t>,
    .count = count,
    .list_by_cluster = list_by_cluster,
    .sum = sum,
    .log2_of_counts = log2_of_counts,
    .log2 = log2,
    .fixed_prices = fixed_prices,
    .sum_of_squares = sum_of_squares,
    .fingerprint = sum_factors,
    .untranspose = untranspose,
    .pack_bits = pack_bits,
    .presence = presence,
};

}  // namespace softmodes::SOFTMODES_ISA
