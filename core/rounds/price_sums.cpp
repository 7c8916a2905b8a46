#include "rounds/price_sums.hpp"

#include <algorithm>
#include <cmath>

#include "rounds/prices.hpp"

namespace softmodes {

Sum128 sum_of_least(const uint32_t* prices, int64_t n_clusters, int64_t n_prices,
                    const int64_t* totals) {
  std::vector<uint32_t> least(prices, prices + n_prices);
  for (int64_t c = 1; c < n_clusters; ++c)
    for (int64_t v = 0; v < n_prices; ++v) least[v] = std::min(least[v], prices[c * n_prices + v]);
  Sum128 sum;
  for (int64_t v = 0; v < n_prices; ++v)
    sum.add_product(static_cast<uint64_t>(totals[v]), least[v]);
  return sum;
}

int64_t sum_of_raised_dense(const DenseCounts& counts, int less, const int64_t* offsets,
                            const int16_t* raised) {
  const int64_t n_prices = offsets[counts.n_features];
  int64_t sum = 0;
  for (int64_t c = 0; c < counts.n_clusters; ++c)
    for (int64_t j = 0; j < counts.n_features; ++j) {
      if (counts.is_sparse(j)) continue;
      const int64_t* cells = counts.of(c, j);
      const int16_t* some = raised + c * n_prices + offsets[j];
      for (int64_t v = 0; v < counts.n_values[j]; ++v) sum += (cells[v] >> less) * some[v];
    }
  return sum;
}

std::vector<double> shares_of_prices(const RoundedPrices& prices, const double* shares) {
  const auto n = static_cast<size_t>(prices.n_prices);
  std::vector<int64_t> sums(n), raised(n);
  for (int64_t c = 0; c < prices.n_clusters; ++c)
    for (size_t v = 0; v < n; ++v) {
      sums[v] += prices.prices[c * prices.n_prices + static_cast<int64_t>(v)];
      raised[v] += prices.raised[c * prices.n_prices + static_cast<int64_t>(v)];
    }
  std::vector<double> found(n);
  for (size_t v = 0; v < n; ++v)
    found[v] = shares[v] * (static_cast<double>(sums[v]) -
                            std::ldexp(static_cast<double>(raised[v]), -kRoundedBits));
  return found;
}

}  // namespace softmodes
