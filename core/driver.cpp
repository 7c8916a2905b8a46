#include "driver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "hashing.hpp"
#include "parallel.hpp"

namespace softmodes {
namespace {

// High 64 bits of a product: maps a uniform 64-bit word to a uniform integer in [0, bound).
uint64_t scale_to(uint64_t uniform, uint64_t bound) {
  const uint64_t a = uniform >> 32, b = uniform & 0xffffffffu;
  const uint64_t c = bound >> 32, d = bound & 0xffffffffu;
  const uint64_t middle = a * d + ((b * d) >> 32);
  const uint64_t carry = (middle & 0xffffffffu) + b * c;
  return a * c + (middle >> 32) + (carry >> 32);
}

double unit_interval(uint64_t uniform) { return static_cast<double>(uniform >> 11) * 0x1p-53; }

// Natural logarithms of small counts, computed once per call: most counts are small.
class Logarithms {
 public:
  explicit Logarithms(int64_t largest) : table_(std::min<int64_t>(largest, kLimit) + 1) {
    for (size_t i = 1; i < table_.size(); ++i) table_[i] = std::log(static_cast<double>(i));
  }
  double operator()(int64_t count) const {
    return count < static_cast<int64_t>(table_.size()) ? table_[count]
                                                       : std::log(static_cast<double>(count));
  }

 private:
  static constexpr int64_t kLimit = 1 << 16;
  std::vector<double> table_;
};

// One cell of the next centers: what is drawn, from which counts, and the random words' address.
struct Cell {
  const int64_t* counts;
  int64_t n_values;
  const int32_t* codes;  // null: value v has code v
  uint64_t key;          // of (seed, run[, round], cluster, feature)

  int32_t code(int64_t v) const { return codes ? codes[v] : static_cast<int32_t>(v); }
};

constexpr int64_t kNothing = -1;

// Proportional to the counts. Blocks of values are passed over whole, the last is counted through
// without a branch: where the draw falls cannot be foreseen.
int64_t draw_proportional(const Cell& cell) {
  constexpr int64_t kBlock = 16;
  const auto total = static_cast<uint64_t>(std::reduce(cell.counts, cell.counts + cell.n_values));
  if (total == 0) return kNothing;
  uint64_t ticket = scale_to(cell.key, total);
  int64_t begin = 0;
  for (; begin + kBlock < cell.n_values; begin += kBlock) {
    const int64_t* block = cell.counts + begin;
    const auto sum = static_cast<uint64_t>(std::reduce(block, block + kBlock));
    if (ticket < sum) break;
    ticket -= sum;
  }
  const int64_t end = std::min(begin + kBlock, cell.n_values);
  int64_t drawn = begin;
  uint64_t sum = 0;
  for (int64_t v = begin; v < end; ++v) {
    sum += static_cast<uint64_t>(cell.counts[v]);
    drawn += sum <= ticket;
  }
  return drawn;
}

int64_t draw_plurality(const Cell& cell, int64_t largest) {
  int64_t winner = kNothing;
  uint64_t winner_rank = 0;
  for (int64_t v = 0; v < cell.n_values; ++v) {
    if (cell.counts[v] != largest) continue;
    const uint64_t rank = fold(cell.key, static_cast<uint64_t>(cell.code(v)));
    if (winner == kNothing || rank < winner_rank) {
      winner = v;
      winner_rank = rank;
    }
  }
  return winner;
}

// Weights are taken relative to the largest count, so that no t underflows all of them.
int64_t draw_soft(const Cell& cell, int64_t largest, double t, const Logarithms& logarithm,
                  std::vector<double>& weights) {
  const double top = logarithm(largest);
  double total = 0.0;
  weights.resize(static_cast<size_t>(cell.n_values));
  for (int64_t v = 0; v < cell.n_values; ++v) {
    const int64_t count = cell.counts[v];
    weights[v] = count == largest ? 1.0 : count ? std::exp(t * (logarithm(count) - top)) : 0.0;
    total += weights[v];
  }
  double ticket = unit_interval(cell.key) * total;
  int64_t last = kNothing;
  for (int64_t v = 0; v < cell.n_values; ++v) {
    if (weights[v] <= 0.0) continue;
    if (ticket < weights[v]) return v;
    ticket -= weights[v];
    last = v;
  }
  return last;  // reached only when rounding errors used up the whole weight
}

int64_t largest_of(const int64_t* counts, int64_t n) {
  int64_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, counts[i]);
  return largest;
}

Logarithms logarithms_for(double t, const int64_t* counts, int64_t n) {
  return Logarithms(std::isinf(t) || t == 1.0 ? 0 : largest_of(counts, n));
}

class Drawing {
 public:
  Drawing(double t, const Logarithms& logarithm) : t_(t), logarithm_(logarithm) {}

  // Returns the index of the drawn value, or kNothing where nothing was observed.
  int64_t operator()(const Cell& cell) {
    if (t_ == 1.0) return draw_proportional(cell);
    const int64_t largest = largest_of(cell.counts, cell.n_values);
    if (largest == 0) return kNothing;
    if (std::isinf(t_)) return draw_plurality(cell, largest);
    return draw_soft(cell, largest, t_, logarithm_, weights_);
  }

 private:
  double t_;
  const Logarithms& logarithm_;
  std::vector<double> weights_;
};

// Neumaier's summation: the order is fixed, the error stays near one rounding.
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

// Exact, and so the same in whatever order, as long as the square of the total is.
double expected_mismatches(const int64_t* counts, int64_t n) {
  constexpr uint64_t kExact = uint64_t{1} << 26;
  uint64_t total = 0, whole_squares = 0;
  for (int64_t v = 0; v < n; ++v) {
    const auto low = static_cast<uint64_t>(static_cast<uint32_t>(counts[v]));
    total += static_cast<uint64_t>(counts[v]);
    whole_squares += low * low;
  }
  if (total == 0) return 0.0;
  auto squares = static_cast<double>(static_cast<int64_t>(whole_squares));
  if (total >= kExact) {
    squares = 0.0;
    for (int64_t v = 0; v < n; ++v)
      squares += static_cast<double>(counts[v]) * static_cast<double>(counts[v]);
  }
  const auto all = static_cast<double>(static_cast<int64_t>(total));
  return all - squares / all;
}

// Runs task(first, last) on shares of the clusters begin .. end, with as many threads as have
// enough to do.
template <class Task>
void share_clusters(const DenseCounts& tally, int64_t begin, int64_t end, int n_threads,
                    const Task& task) {
  constexpr int64_t kCellsPerThread = int64_t{1} << 16;
  const int64_t k = end - begin;
  const int64_t useful = std::min<int64_t>(n_threads, k * tally.n_cells / kCellsPerThread);
  const int64_t n_shares = useful > 1 ? std::min(k, 4 * useful) : 1;
  run_tasks(n_shares, static_cast<int>(useful), {}, [&](int64_t i, int, const Stop&) {
    task(begin + k * i / n_shares, begin + k * (i + 1) / n_shares);
  });
}

}  // namespace

void draw_dense(const DenseCounts& tally, double t, uint64_t key, int32_t* centers, int n_threads) {
  const Logarithms logarithm = logarithms_for(t, tally.counts, tally.n_clusters * tally.n_cells);
  share_clusters(tally, 0, tally.n_clusters, n_threads, [&](int64_t first, int64_t last) {
    Drawing draw(t, logarithm);
    for (int64_t i = first; i < last; ++i) {
      const uint64_t cluster_key = fold(key, static_cast<uint64_t>(i));
      for (int64_t j = 0; j < tally.n_features; ++j) {
        if (tally.is_wide(j)) continue;
        const uint64_t cell_key = fold(cluster_key, static_cast<uint64_t>(j));
        const int64_t v = draw(Cell{tally.of(i, j), tally.sizes[j], nullptr, cell_key});
        if (v != kNothing) centers[i * tally.n_features + j] = static_cast<int32_t>(v);
      }
    }
  });
}

void draw_wide(const WideCounts& tally, int32_t size, double t, uint64_t key, int32_t* centers,
               int64_t n_features) {
  const Logarithms logarithm = logarithms_for(t, tally.counts, tally.indptr[tally.n_clusters]);
  Drawing draw(t, logarithm);
  for (int64_t i = 0; i < tally.n_clusters; ++i) {
    const int64_t begin = tally.indptr[i];
    const int32_t* codes = tally.codes + begin;
    const int32_t* end = std::lower_bound(codes, tally.codes + tally.indptr[i + 1], size);
    const uint64_t cell_key =
        fold(fold(key, static_cast<uint64_t>(i)), static_cast<uint64_t>(tally.feature));
    const int64_t v = draw(Cell{tally.counts + begin, end - codes, codes, cell_key});
    if (v != kNothing) centers[i * n_features + tally.feature] = codes[v];
  }
}

double expected_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight,
                           int n_threads) {
  constexpr int64_t kMostTerms = int64_t{1} << 20;  // summed in one order, whoever found them
  const int64_t d = tally.n_features;
  const int64_t at_once =
      std::min(std::max<int64_t>(kMostTerms / std::max<int64_t>(d, 1), 1), tally.n_clusters);
  std::vector<double> terms(static_cast<size_t>(at_once * d));
  Sum sum;
  for (int64_t begin = 0; begin < tally.n_clusters; begin += at_once) {
    const int64_t end = std::min(begin + at_once, tally.n_clusters);
    share_clusters(tally, begin, end, n_threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        for (int64_t j = 0; j < d; ++j)
          if (!tally.is_wide(j))
            terms[(i - begin) * d + j] = expected_mismatches(tally.of(i, j), tally.sizes[j]);
    });
    for (int64_t i = 0; i < end - begin; ++i)
      for (int64_t j = 0; j < d; ++j)
        sum.add(feature_weight ? terms[i * d + j] * feature_weight[j] : terms[i * d + j]);
  }
  return sum.value();
}

double expected_cost_wide(const WideCounts& tally, int32_t size) {
  Sum sum;
  for (int64_t i = 0; i < tally.n_clusters; ++i) {
    const int32_t* codes = tally.codes + tally.indptr[i];
    const int32_t* end = std::lower_bound(codes, tally.codes + tally.indptr[i + 1], size);
    sum.add(expected_mismatches(tally.counts + tally.indptr[i], end - codes));
  }
  return sum.value();
}

}  // namespace softmodes
