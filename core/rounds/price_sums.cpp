#include "rounds/price_sums.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "rounds/exact_sum.hpp"
#include "rounds/fixed_price.hpp"

namespace softmodes {
namespace {

// Runs task(first, last) on some of the values at a time: so few that sums over the clusters stay
// in the cache.
template <class Task>
void split_values(int64_t n_clusters, int64_t n_prices, const Threads& threads, const Task& task) {
  constexpr int64_t kAtOnce = 4096, kPricesPerThread = int64_t{1} << 17;
  run_tasks((n_prices + kAtOnce - 1) / kAtOnce,
            threads.at_most(n_clusters * n_prices / kPricesPerThread),
            [&](int64_t i, int, const Stop&) {
              task(i * kAtOnce, std::min((i + 1) * kAtOnce, n_prices));
            });
}

}  // namespace

Sum128 sum_of_least(const uint32_t* prices, int64_t n_clusters, int64_t n_prices,
                    const int64_t* totals, const Threads& threads) {
  Sum128 sum;
  std::mutex adding;
  split_values(n_clusters, n_prices, threads, [&](int64_t first, int64_t last) {
    std::vector<uint32_t> least(prices + first, prices + last);
    for (int64_t c = 1; c < n_clusters; ++c) {
      const uint32_t* some = prices + c * n_prices + first;
      for (size_t v = 0; v < least.size(); ++v) least[v] = std::min(least[v], some[v]);
    }
    Sum128 own;
    for (size_t v = 0; v < least.size(); ++v)
      own.add_product(static_cast<uint64_t>(totals[first + static_cast<int64_t>(v)]), least[v]);
    const std::lock_guard<std::mutex> lock(adding);
    sum += own;
  });
  return sum;
}

int64_t sum_of_raised_dense(const DenseCounts& counts, int less, const int64_t* offsets,
                            const int16_t* raised, const Threads& threads) {
  const int64_t n_prices = offsets[counts.n_features];
  std::vector<int64_t> sums(static_cast<size_t>(counts.n_clusters));
  split_clusters(counts, 0, counts.n_clusters, threads, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      int64_t sum = 0;
      for (int64_t j = 0; j < counts.n_features; ++j) {
        if (counts.is_sparse(j)) continue;
        const int64_t* cells = counts.of(c, j);
        const int16_t* some = raised + c * n_prices + offsets[j];
        for (int64_t v = 0; v < counts.n_values[j]; ++v) sum += (cells[v] >> less) * some[v];
      }
      sums[c] = sum;
    }
  });
  return std::accumulate(sums.begin(), sums.end(), int64_t{0});
}

double sum_by_shares(const RoundedPrices& prices, const double* shares, const double* more,
                     int64_t n_more, const Threads& threads) {
  ExactSum sum = exact_sum(more, n_more, threads);
  std::mutex adding;
  split_values(prices.n_clusters, prices.n_prices, threads, [&](int64_t first, int64_t last) {
    const auto n = static_cast<size_t>(last - first);
    std::vector<int64_t> sums(n), raised(n);
    for (int64_t c = 0; c < prices.n_clusters; ++c) {
      const uint32_t* some = prices.prices + c * prices.n_prices + first;
      const int16_t* by = prices.raised + c * prices.n_prices + first;
      for (size_t v = 0; v < n; ++v) {
        sums[v] += some[v];
        raised[v] += by[v];
      }
    }
    std::vector<double> terms(n);
    for (size_t v = 0; v < n; ++v)
      terms[v] = shares[first + static_cast<int64_t>(v)] * before_rounding(sums[v], raised[v]);
    ExactSum own;
    own.add(terms.data(), last - first);
    const std::lock_guard<std::mutex> lock(adding);
    sum.add(own);
  });
  return sum.rounded();
}

}  // namespace softmodes
