#include "rounds/expected_cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "isa/kernels.hpp"
#include "rounds/split.hpp"

namespace softmodes {
namespace {

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

// Exact, and so the same in whatever order, as long as the square of the total is; and nothing for
// rows of one value, whatever they weigh.
double expected_mismatches(const int64_t* counts, int64_t n) {
  constexpr uint64_t kExact = uint64_t{1} << 26;
  constexpr int64_t kMany = 32;  // values for which a kernel is worth its call
  uint64_t total = 0, whole_squares = 0;
  if (n >= kMany) {
    total = kernels().sum_of_squares(counts, n, &whole_squares);
  } else {
    for (int64_t v = 0; v < n; ++v) {
      const auto low = static_cast<uint64_t>(static_cast<uint32_t>(counts[v]));
      total += static_cast<uint64_t>(counts[v]);
      whole_squares += low * low;
    }
  }
  if (total == 0) return 0.0;
  const auto all = static_cast<double>(static_cast<int64_t>(total));
  if (total < kExact) return all - static_cast<double>(static_cast<int64_t>(whole_squares)) / all;
  double pairs = 0.0;
  for (int64_t v = 0; v < n; ++v)
    pairs += static_cast<double>(counts[v]) *
             static_cast<double>(static_cast<int64_t>(total) - counts[v]);
  return pairs / all;
}

}  // namespace

double expected_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight,
                           const Threads& threads) {
  constexpr int64_t kMostTerms = int64_t{1} << 20;  // summed in one order, whoever found them
  const int64_t d = tally.n_features;
  const int64_t at_once =
      std::min(std::max<int64_t>(kMostTerms / std::max<int64_t>(d, 1), 1), tally.n_clusters);
  std::vector<double> terms(static_cast<size_t>(at_once * d));
  Sum sum;
  for (int64_t begin = 0; begin < tally.n_clusters; begin += at_once) {
    const int64_t end = std::min(begin + at_once, tally.n_clusters);
    split_clusters(tally, begin, end, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        for (int64_t j = 0; j < d; ++j)
          if (!tally.is_sparse(j))
            terms[(i - begin) * d + j] = expected_mismatches(tally.of(i, j), tally.n_values[j]);
    });
    for (int64_t i = 0; i < end - begin; ++i)
      for (int64_t j = 0; j < d; ++j)
        sum.add(feature_weight ? terms[i * d + j] * feature_weight[j] : terms[i * d + j]);
  }
  return sum.value();
}

std::vector<double> expected_costs_wide(const WideCounts& tally, const Threads& threads) {
  std::vector<double> costs(static_cast<size_t>(tally.n_features));
  split_features(tally, threads, [&](int64_t f) {
    Sum sum;
    for (int64_t i = 0; i < tally.n_clusters; ++i) {
      const WideCounts::Values values = tally.of(f, i);
      sum.add(expected_mismatches(values.counts, values.n));
    }
    costs[f] = sum.value();
  });
  return costs;
}

int64_t modes_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight,
                         const Threads& threads) {
  std::vector<int64_t> costs(static_cast<size_t>(tally.n_clusters));
  split_clusters(tally, 0, tally.n_clusters, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      int64_t cost = 0;
      for (int64_t j = 0; j < tally.n_features; ++j) {
        if (tally.is_sparse(j)) continue;
        const int64_t* counts = tally.of(i, j);
        int64_t observed = 0, most = 0;
        for (int64_t v = 0; v < tally.n_values[j]; ++v) {
          observed += counts[v];
          most = std::max(most, counts[v]);
        }
        cost += (observed - most) * (feature_weight ? int64_t{feature_weight[j]} : 1);
      }
      costs[i] = cost;
    }
  });
  return std::accumulate(costs.begin(), costs.end(), int64_t{0});
}

ModeCounts mode_counts_wide(const WideCounts& tally, const Threads& threads) {
  ModeCounts found;
  found.modes.resize(static_cast<size_t>(tally.n_features));
  found.observed.resize(found.modes.size());
  split_features(tally, threads, [&](int64_t f) {
    for (int64_t i = 0; i < tally.n_clusters; ++i) {
      const WideCounts::Values values = tally.of(f, i);
      int64_t most = 0;
      for (int64_t v = 0; v < values.n; ++v) {
        most = std::max(most, values.counts[v]);
        found.observed[f] += values.counts[v];
      }
      found.modes[f] += most;
    }
  });
  return found;
}

}  // namespace softmodes
