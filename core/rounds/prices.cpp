#include "rounds/prices.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "isa/kernels.hpp"
#include "logarithm.hpp"
#include "rounds/split.hpp"

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

// How many parts the clusters are cut in: some, where the features alone are too few for threads.
int64_t cut_clusters(const DenseCounts& counts, const std::vector<int64_t>& edges, int n_threads) {
  const int64_t n_edges = static_cast<int64_t>(edges.size()) - 1;
  if (n_threads <= 1) return 1;
  return std::clamp<int64_t>(4 * n_threads / n_edges, 1, std::max<int64_t>(counts.n_clusters, 1));
}

Threads useful_threads(const DenseCounts& counts, const Threads& threads) {
  constexpr int64_t kCellsPerThread = int64_t{1} << 16;
  return threads.at_most(counts.n_clusters * counts.n_cells / kCellsPerThread);
}

// Runs task(part) on all parts of the features and of the clusters.
template <class Task>
void split_parts(const DenseCounts& counts, const std::vector<int64_t>& edges, int64_t n_cuts,
                 const Threads& threads, const Task& task) {
  const int64_t k = counts.n_clusters, n_edges = static_cast<int64_t>(edges.size()) - 1;
  run_tasks(n_edges * n_cuts, threads, [&](int64_t i, int, const Stop&) {
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
        priors_(static_cast<size_t>(n_cells_)),
        logs_of_least_(source.rule == PriceRule::latent ? priors_.size() : 0),
        totals_(static_cast<size_t>(part.last_feature - part.first_feature)),
        sums_(totals_.size(), 1.0),
        logs_of_sums_(totals_.size()),
        prices_(priors_.size()) {
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const int64_t* totals = source.totals + begin_ + first;
      const double total = sum_of(totals, n);
      for (int64_t v = 0; v < n; ++v)
        priors_[first + v] =
            totals[v] ? source.prior * (static_cast<double>(totals[v]) / total) : 0.0;
      totals_[j - part_.first_feature] = total;
    });
    if (source.rule != PriceRule::latent) return;
    if (source.nearly_sure.factor)
      for (int64_t cell = 0; cell < n_cells_; ++cell)
        least_.push_back(source.totals[begin_ + cell] >> source.nearly_sure.less);
    for (size_t cell = 0; cell < priors_.size(); ++cell) {
      const double least = least_.empty() ? 0.0 : static_cast<double>(least_[cell]);
      prices_[cell] = priors_[cell] > 0 ? least + priors_[cell] : 1.0;
    }
    kernels().log2(prices_.data(), n_cells_, logs_of_least_.data());
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
    return prices_.data();
  }

 private:
  double weight(int64_t feature) const {
    return source_.feature_weight ? source_.feature_weight[feature] : 1.0;
  }

  // By cell after `begin`, for the latent rule: by no other are rows nearly sure.
  const int64_t* counts_of(int64_t cluster) {
    const int64_t* counts = counts_.counts + cluster * counts_.n_cells + begin_;
    const NearlySure& by = source_.nearly_sure;
    if (!by.factor) return counts;
    made_.resize(static_cast<size_t>(n_cells_));
    for (int64_t cell = 0; cell < n_cells_; ++cell)
      made_[cell] = (counts[cell] >> by.less) * by.factor + least_[cell];
    return made_.data();
  }

  // A value without any weight in the table costs the same in every cluster, as an unseen one does.
  void set_latent(int64_t cluster) {
    const Kernels& isa = kernels();
    const int64_t* counts = counts_of(cluster);
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      sums_[j - part_.first_feature] = sum_of(counts + first, n) + source_.prior;
    });
    isa.log2(sums_.data(), static_cast<int64_t>(sums_.size()), logs_of_sums_.data());
    isa.log2_of_counts(counts, least_.empty() ? nullptr : least_.data(), priors_.data(),
                       logs_of_least_.data(), n_cells_, prices_.data());
    for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      const double dearest = logs_of_sums_[j - part_.first_feature], by = weight(j);
      for (int64_t cell = first; cell < first + n; ++cell)
        prices_[cell] = priors_[cell] > 0 ? std::max(0.0, by * (dearest - prices_[cell])) : 0.0;
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
      const double by = weight(j);
      for (int64_t v = 0; v < n; ++v)
        prices_[first + v] = std::max(0.0, by * (1.0 - 2.0 * prices_[first + v] + squares));
    });
  }

  const PriceSource& source_;
  const DenseCounts& counts_;
  Part part_;
  int64_t begin_;  // the first cell
  int64_t n_cells_;
  std::vector<double> priors_;  // by cell
  std::vector<int64_t> least_;  // counts of values in no row of a cluster; empty: 0
  std::vector<double> logs_of_least_;
  std::vector<double> totals_;               // of the table, by feature
  std::vector<double> sums_, logs_of_sums_;  // of a cluster, by feature
  std::vector<double> prices_;               // by cell
  std::vector<int64_t> made_;                // counts by cell, if rows are nearly sure
};

// The least and the dearest price of each cell of a part.
struct PriceRanges {
  std::vector<double> least, dearest;

  void add(const double* prices, size_t n) {
    if (least.empty()) {
      least.assign(prices, prices + n);
      dearest = least;
    }
    for (size_t cell = 0; cell < n; ++cell) {
      least[cell] = std::min(least[cell], prices[cell]);
      dearest[cell] = std::max(dearest[cell], prices[cell]);
    }
  }
  void add(const PriceRanges& other) {
    add(other.least.data(), other.least.size());
    add(other.dearest.data(), other.dearest.size());
  }
};

// Rounds the prices of one cluster in the features of a part.
void write_fixed(const ClusterPrices& prices, const double* price, int64_t cluster,
                 const FixedPrices& out) {
  const Kernels& isa = kernels();
  const double scale = std::ldexp(1.0, out.resolution);
  const auto write = [&](int64_t first, int64_t n, int64_t offset) {
    const int64_t at = cluster * out.n_prices + offset;
    isa.fixed_prices(price + first, n, scale, out.prices + at,
                     out.raised ? out.raised + at : nullptr);
  };
  // Features with a price for every cell, one after the other, are rounded at once.
  int64_t begin = 0, end = 0, offset = 0;
  prices.for_each_feature([&](int64_t j, int64_t first, int64_t n) {
    if (first != end || out.offsets[j] - offset != first - begin) {
      write(begin, end - begin, offset);
      begin = first;
      offset = out.offsets[j];
    }
    end = first + n;
  });
  write(begin, end - begin, offset);
}

// By how much the prices of a feature's values differ between clusters, at most.
double span_of(const double* least, const double* dearest, int64_t n, const KeptPrices& kept,
               int64_t n_prices, int64_t offset) {
  double span = 0.0;
  for (int64_t v = 0; v < n; ++v) {
    double low = least[v], high = dearest[v];
    for (int64_t i = 0; i < kept.n_clusters; ++i) {
      const double price = kept.prices[i * n_prices + offset + v];
      low = std::min(low, price);
      high = std::max(high, price);
    }
    span = std::max(span, high - low);
  }
  return span;
}

}  // namespace

std::vector<double> fixed_prices_and_spans(const PriceSource& source, const KeptPrices& kept,
                                           const FixedPrices& out, const Threads& threads) {
  const DenseCounts& counts = source.counts;
  const Threads useful = useful_threads(counts, threads);
  const std::vector<int64_t> edges = cut_features(counts);
  const int64_t n_cuts = cut_clusters(counts, edges, useful.n);
  std::vector<PriceRanges> ranges(edges.size());  // of parts that were cut
  std::vector<int64_t> n_found(edges.size());
  std::vector<double> spans(static_cast<size_t>(counts.n_features));
  std::mutex merging;
  split_parts(counts, edges, n_cuts, useful, [&](const Part& part) {
    ClusterPrices prices(source, part);
    PriceRanges own;
    for (int64_t i = part.first_cluster; i < part.last_cluster; ++i) {
      const double* price = prices.of(i);
      own.add(price, static_cast<size_t>(prices.n_cells()));
      write_fixed(prices, price, i, out);
    }
    if (n_cuts > 1) {
      const std::lock_guard<std::mutex> lock(merging);
      ranges[part.index].add(own);
      if (++n_found[part.index] < n_cuts) return;
      std::swap(own, ranges[part.index]);
    }
    if (own.least.empty()) return;  // no clusters
    prices.for_each_feature([&](int64_t j, int64_t first, int64_t n) {
      spans[j] = span_of(own.least.data() + first, own.dearest.data() + first, n, kept,
                         out.n_prices, out.offsets[j]);
    });
  });
  return spans;
}

void fixed_prices(const PriceSource& source, const FixedPrices& out, const Threads& threads) {
  const DenseCounts& counts = source.counts;
  const Threads useful = useful_threads(counts, threads);
  const std::vector<int64_t> edges = cut_features(counts);
  split_parts(counts, edges, cut_clusters(counts, edges, useful.n), useful, [&](const Part& part) {
    ClusterPrices prices(source, part);
    for (int64_t i = part.first_cluster; i < part.last_cluster; ++i)
      write_fixed(prices, prices.of(i), i, out);
  });
}

std::vector<double> portable_log2(const double* numbers, int64_t n, const Threads& threads) {
  constexpr int64_t kAtOnce = int64_t{1} << 14;
  const int64_t n_tasks = (n + kAtOnce - 1) / kAtOnce;
  std::vector<double> logs(static_cast<size_t>(n));
  run_tasks(n_tasks, threads.at_most(n_tasks), [&](int64_t i, int, const Stop&) {
    const int64_t first = i * kAtOnce;
    kernels().log2(numbers + first, std::min(kAtOnce, n - first), logs.data() + first);
  });
  return logs;
}

std::vector<double> value_shares(const int64_t* totals, const int64_t* starts, int64_t n_features,
                                 const Threads& threads) {
  std::vector<double> shares(static_cast<size_t>(starts[n_features]));
  split_features(n_features, starts[n_features], threads, [&](int64_t j) {
    const double all = std::max(sum_of(totals + starts[j], starts[j + 1] - starts[j]), 1.0);
    for (int64_t v = starts[j]; v < starts[j + 1]; ++v)
      shares[v] = static_cast<double>(totals[v]) / all;
  });
  return shares;
}

std::vector<double> latent_bases(const int64_t* sizes, int64_t n_clusters) {
  const auto total = static_cast<double>(std::accumulate(sizes, sizes + n_clusters, int64_t{0}));
  std::vector<double> bases;
  for (int64_t i = 0; i < n_clusters; ++i) {
    const double share = static_cast<double>(std::max<int64_t>(sizes[i], 1)) / total;
    bases.push_back(std::max(0.0, -portable_log2(share)));
  }
  return bases;
}

void fixed_numbers(const double* prices, int64_t n, int resolution, uint32_t* out,
                   int16_t* raised) {
  kernels().fixed_prices(prices, n, std::ldexp(1.0, resolution), out, raised);
}

}  // namespace softmodes
