#include "rounds/prices.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "isa/kernels.hpp"
#include "logarithm.hpp"
#include "rounds/fixed_price.hpp"
#include "rounds/split.hpp"

namespace softmodes {

double portable_log2(double x) { return log2_of(x); }

namespace {

double sum_of(const int64_t* counts, int64_t n) {
  int64_t sum = 0;
  for (int64_t v = 0; v < n; ++v) sum += counts[v];
  return static_cast<double>(sum);
}

// The prices of all values, cluster by cluster.
class ClusterPrices {
 public:
  explicit ClusterPrices(const PriceSource& source)
      : source_(source),
        counts_(source.counts),
        shares_(static_cast<size_t>(counts_.n_cells)),
        totals_(static_cast<size_t>(counts_.n_features)),
        numbers_(static_cast<size_t>(counts_.n_cells + counts_.n_features), 1.0),
        prices_(numbers_.size()) {
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const double total = sum_of(source.totals + first, n);
      for (int64_t cell = first; cell < first + n; ++cell)
        shares_[cell] =
            source.totals[cell] ? static_cast<double>(source.totals[cell]) / total : 0.0;
      totals_[j] = total;
    });
  }

  // Calls visit(feature, its first cell, its values) for all features that are kept dense.
  template <class Visit>
  void for_each_feature(const Visit& visit) const {
    for (int64_t j = 0; j < counts_.n_features; ++j)
      if (!counts_.is_sparse(j)) visit(j, counts_.offsets[j], counts_.n_values[j]);
  }

  // By cell.
  const double* of(int64_t cluster) {
    source_.rule == PriceRule::latent ? set_latent(cluster) : set_gini(cluster);
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const double weight = source_.feature_weight ? source_.feature_weight[j] : 1.0;
      for (int64_t cell = first; cell < first + n; ++cell)
        prices_[cell] = std::max(0.0, weight * prices_[cell]);
    });
    return prices_.data();
  }

 private:
  // A value without any weight in the table costs the same in every cluster, as an unseen one does.
  void set_latent(int64_t cluster) {
    const int64_t* counts = counts_.counts + cluster * counts_.n_cells;
    double* dearest = numbers_.data() + counts_.n_cells;
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      dearest[j] = sum_of(counts + first, n) + source_.prior;
      for (int64_t cell = first; cell < first + n; ++cell)
        numbers_[cell] = shares_[cell] > 0
                             ? static_cast<double>(counts[cell]) + source_.prior * shares_[cell]
                             : 1.0;
    });
    kernels().log2(numbers_.data(), static_cast<int64_t>(numbers_.size()), prices_.data());
    dearest = prices_.data() + counts_.n_cells;
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      for (int64_t cell = first; cell < first + n; ++cell)
        prices_[cell] = shares_[cell] > 0 ? dearest[j] - prices_[cell] : 0.0;
    });
  }

  void set_gini(int64_t cluster) {
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const int64_t* counts = counts_.of(cluster, j);
      double all = sum_of(counts, n);
      if (!(all > 0)) {
        counts = source_.totals + first;
        all = totals_[j];
      }
      double squares = 0.0;
      for (int64_t v = 0; v < n; ++v) {
        const double share = all > 0 ? static_cast<double>(counts[v]) / all : 0.0;
        prices_[first + v] = share;
        squares += share * share;
      }
      for (int64_t v = 0; v < n; ++v) prices_[first + v] = 1.0 - 2.0 * prices_[first + v] + squares;
    });
  }

  const PriceSource& source_;
  const DenseCounts& counts_;
  std::vector<double> shares_;   // of the table, by cell
  std::vector<double> totals_;   // of the table, by feature
  std::vector<double> numbers_;  // by cell, then by feature
  std::vector<double> prices_;
};

}  // namespace

void price_ranges(const PriceSource& source, double* least, double* dearest,
                  const Threads& threads) {
  std::mutex merging;
  bool any = false;
  split_clusters(source.counts, 0, source.counts.n_clusters, threads, [&](int64_t i, int64_t end) {
    ClusterPrices prices(source);
    const double* some = prices.of(i);
    std::vector<double> low(some, some + source.counts.n_cells), high = low;
    for (++i; i < end; ++i) {
      some = prices.of(i);
      for (size_t cell = 0; cell < low.size(); ++cell) {
        low[cell] = std::min(low[cell], some[cell]);
        high[cell] = std::max(high[cell], some[cell]);
      }
    }
    const std::lock_guard<std::mutex> lock(merging);
    prices.for_each_feature([&](int64_t, int64_t first, int64_t n) {
      for (int64_t cell = first; cell < first + n; ++cell) {
        least[cell] = any ? std::min(least[cell], low[cell]) : low[cell];
        dearest[cell] = any ? std::max(dearest[cell], high[cell]) : high[cell];
      }
    });
    any = true;
  });
}

void fixed_prices(const PriceSource& source, int resolution, const int64_t* offsets, uint32_t* out,
                  int16_t* raised, const Threads& threads) {
  const int64_t n_prices = offsets[source.counts.n_features];
  const double scale = std::ldexp(1.0, resolution);
  split_clusters(source.counts, 0, source.counts.n_clusters, threads, [&](int64_t i, int64_t end) {
    ClusterPrices prices(source);
    for (; i < end; ++i) {
      const double* price = prices.of(i);
      prices.for_each_feature([&](int64_t j, int64_t first, int64_t n) {
        const int64_t at = i * n_prices + offsets[j];
        for (int64_t v = 0; v < n; ++v) {
          const FixedPrice fixed(price[first + v] * scale);
          out[at + v] = static_cast<uint32_t>(fixed.whole);
          if (raised) raised[at + v] = fixed.raised();
        }
      });
    }
  });
}

}  // namespace softmodes
