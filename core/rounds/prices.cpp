#include "rounds/prices.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "isa/kernels.hpp"
#include "logarithm.hpp"
#include "rounds/fixed_price.hpp"

namespace softmodes {

double portable_log2(double x) { return log2_of(x); }

namespace {

double sum_of(const int64_t* counts, int64_t n) {
  int64_t sum = 0;
  for (int64_t v = 0; v < n; ++v) sum += counts[v];
  return static_cast<double>(sum);
}

// Features and clusters whose prices are made together: so few cells that they stay in the cache.
struct Part {
  int64_t index;  // of the features
  int64_t first_feature, last_feature;
  int64_t first_cluster, last_cluster;
};

// Where parts of the features begin, and where the last one ends.
std::vector<int64_t> cut_features(const DenseCounts& counts) {
  constexpr int64_t kCells = 4096;
  std::vector<int64_t> edges{0};
  for (int64_t j = 1; j < counts.n_features; ++j)
    if (counts.offsets[j + 1] - counts.offsets[edges.back()] > kCells) edges.push_back(j);
  edges.push_back(counts.n_features);
  return edges;
}

// Runs task(part) on all parts of so many `edges`, with as many threads as have enough to do.
template <class Task>
void split_parts(const DenseCounts& counts, const std::vector<int64_t>& edges,
                 const Threads& threads, const Task& task) {
  constexpr int64_t kCellsPerThread = int64_t{1} << 16;
  const int64_t k = counts.n_clusters, n_edges = static_cast<int64_t>(edges.size()) - 1;
  const Threads useful = threads.at_most(k * counts.n_cells / kCellsPerThread);
  const int64_t n_cuts =
      useful.n > 1 ? std::clamp<int64_t>(4 * useful.n / n_edges, 1, std::max<int64_t>(k, 1)) : 1;
  run_tasks(n_edges * n_cuts, useful, [&](int64_t i, int, const Stop&) {
    const int64_t at = i / n_cuts, cut = i % n_cuts;
    task(Part{at, edges[at], edges[at + 1], k * cut / n_cuts, k * (cut + 1) / n_cuts});
  });
}

// The prices of all values of some features, cluster by cluster.
class ClusterPrices {
 public:
  ClusterPrices(const PriceSource& source, const Part& part)
      : source_(source),
        counts_(source.counts),
        part_(part),
        begin_(counts_.offsets[part.first_feature]),
        n_cells_(counts_.offsets[part.last_feature] - begin_),
        shares_(static_cast<size_t>(n_cells_)),
        totals_(static_cast<size_t>(part.last_feature - part.first_feature)),
        numbers_(shares_.size() + totals_.size(), 1.0),
        prices_(numbers_.size()) {
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const int64_t* totals = source.totals + begin_ + first;
      const double total = sum_of(totals, n);
      for (int64_t v = 0; v < n; ++v)
        shares_[first + v] = totals[v] ? static_cast<double>(totals[v]) / total : 0.0;
      totals_[j - part_.first_feature] = total;
    });
  }

  int64_t begin() const { return begin_; }
  int64_t n_cells() const { return n_cells_; }

  // Calls visit(feature, its first cell after `begin`, its values) for all features that are kept
  // dense.
  template <class Visit>
  void for_each_feature(const Visit& visit) const {
    for (int64_t j = part_.first_feature; j < part_.last_feature; ++j)
      if (!counts_.is_sparse(j)) visit(j, counts_.offsets[j] - begin_, counts_.n_values[j]);
  }

  // By cell after `begin`.
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
    const int64_t* counts = counts_.counts + cluster * counts_.n_cells + begin_;
    double* dearest = numbers_.data() + n_cells_;
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      dearest[j - part_.first_feature] = sum_of(counts + first, n) + source_.prior;
      for (int64_t cell = first; cell < first + n; ++cell)
        numbers_[cell] = shares_[cell] > 0
                             ? static_cast<double>(counts[cell]) + source_.prior * shares_[cell]
                             : 1.0;
    });
    kernels().log2(numbers_.data(), static_cast<int64_t>(numbers_.size()), prices_.data());
    dearest = prices_.data() + n_cells_;
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      for (int64_t cell = first; cell < first + n; ++cell)
        prices_[cell] = shares_[cell] > 0 ? dearest[j - part_.first_feature] - prices_[cell] : 0.0;
    });
  }

  void set_gini(int64_t cluster) {
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const int64_t* counts = counts_.of(cluster, j);
      double all = sum_of(counts, n);
      if (!(all > 0)) {
        counts = source_.totals + begin_ + first;
        all = totals_[j - part_.first_feature];
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
  Part part_;
  int64_t begin_;  // the first cell
  int64_t n_cells_;
  std::vector<double> shares_;   // of the table, by cell
  std::vector<double> totals_;   // of the table, by feature
  std::vector<double> numbers_;  // by cell, then by feature
  std::vector<double> prices_;
};

}  // namespace

void price_ranges(const PriceSource& source, double* least, double* dearest,
                  const Threads& threads) {
  const std::vector<int64_t> edges = cut_features(source.counts);
  std::mutex merging;
  std::vector<char> any(edges.size());
  split_parts(source.counts, edges, threads, [&](const Part& part) {
    ClusterPrices prices(source, part);
    const double* some = prices.of(part.first_cluster);
    std::vector<double> low(some, some + prices.n_cells()), high = low;
    for (int64_t i = part.first_cluster + 1; i < part.last_cluster; ++i) {
      some = prices.of(i);
      for (size_t cell = 0; cell < low.size(); ++cell) {
        low[cell] = std::min(low[cell], some[cell]);
        high[cell] = std::max(high[cell], some[cell]);
      }
    }
    const std::lock_guard<std::mutex> lock(merging);
    prices.for_each_feature([&](int64_t, int64_t first, int64_t n) {
      for (int64_t cell = first; cell < first + n; ++cell) {
        double &floor = least[prices.begin() + cell], &top = dearest[prices.begin() + cell];
        floor = any[part.index] ? std::min(floor, low[cell]) : low[cell];
        top = any[part.index] ? std::max(top, high[cell]) : high[cell];
      }
    });
    any[part.index] = true;
  });
}

void fixed_prices(const PriceSource& source, int resolution, const int64_t* offsets, uint32_t* out,
                  int16_t* raised, const Threads& threads) {
  const int64_t n_prices = offsets[source.counts.n_features];
  const double scale = std::ldexp(1.0, resolution);
  split_parts(source.counts, cut_features(source.counts), threads, [&](const Part& part) {
    ClusterPrices prices(source, part);
    for (int64_t i = part.first_cluster; i < part.last_cluster; ++i) {
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

void sums_before_rounding(const uint32_t* prices, const int16_t* raised, int64_t n_clusters,
                          int64_t n_values, double* out) {
  constexpr int64_t kValues = 1024;  // whose sums stay in the cache
  for (int64_t first = 0; first < n_values; first += kValues) {
    int64_t sums[kValues] = {}, sums_raised[kValues] = {};
    const int64_t n = std::min(kValues, n_values - first);
    for (int64_t c = 0; c < n_clusters; ++c) {
      const int64_t at = c * n_values + first;
      for (int64_t v = 0; v < n; ++v) sums[v] += prices[at + v];
      for (int64_t v = 0; v < n; ++v) sums_raised[v] += raised[at + v];
    }
    for (int64_t v = 0; v < n; ++v) out[first + v] = before_rounding(sums[v], sums_raised[v]);
  }
}

}  // namespace softmodes
