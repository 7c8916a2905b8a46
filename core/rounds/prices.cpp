#include "rounds/prices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace softmodes {

// x = m 2^e with m near 1, and ln m = 2 (z + z^3 / 3 + z^5 / 5 + ...) for z = (m - 1) / (m + 1).
double portable_log2(double x) {
  constexpr double kTwiceLog2E = 2.8853900817779268;
  constexpr double kRootOfHalf = 0.70710678118654752;
  const auto bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffull) | (uint64_t{1022} << 52));
  if (m < kRootOfHalf) {
    m *= 2.0;
    --exponent;
  }
  const double z = (m - 1.0) / (m + 1.0), square = z * z;  // below 0.0295
  double series = 1.0 / 19;
  for (int i = 17; i >= 1; i -= 2) series = series * square + 1.0 / i;
  return static_cast<double>(exponent) + kTwiceLog2E * z * series;
}

namespace {

double weight_of(const PriceSource& source, int64_t feature) {
  return source.feature_weight ? source.feature_weight[feature] : 1.0;
}

double sum_of(const int64_t* counts, int64_t n) {
  int64_t sum = 0;
  for (int64_t v = 0; v < n; ++v) sum += counts[v];
  return static_cast<double>(sum);
}

// The prices of one feature, cluster by cluster.
class FeaturePrices {
 public:
  FeaturePrices(const PriceSource& source, int64_t feature)
      : source_(source),
        feature_(feature),
        n_(source.counts.n_values[feature]),
        weight_(weight_of(source, feature)),
        totals_(source.totals + source.counts.offsets[feature]),
        total_(sum_of(totals_, n_)),
        prices_(static_cast<size_t>(n_)) {}

  const std::vector<double>& of(int64_t cluster) {
    const int64_t* counts = source_.counts.of(cluster, feature_);
    const double all = sum_of(counts, n_);
    if (source_.rule == PriceRule::latent)
      set_latent(counts, all);
    else if (all > 0)
      set_gini(counts, all);
    else
      set_gini(totals_, total_);
    for (double& price : prices_) price = std::max(0.0, weight_ * price);
    return prices_;
  }

 private:
  // A value without any weight in the table costs the same in every cluster, as an unseen one does.
  void set_latent(const int64_t* counts, double all) {
    const double dearest = portable_log2(all + source_.prior);
    for (int64_t v = 0; v < n_; ++v) {
      const double share = totals_[v] ? static_cast<double>(totals_[v]) / total_ : 0.0;
      prices_[v] =
          share > 0
              ? dearest - portable_log2(static_cast<double>(counts[v]) + source_.prior * share)
              : 0.0;
    }
  }

  void set_gini(const int64_t* counts, double all) {
    double squares = 0.0;
    for (int64_t v = 0; v < n_; ++v) {
      const double share = all > 0 ? static_cast<double>(counts[v]) / all : 0.0;
      prices_[v] = share;
      squares += share * share;
    }
    for (double& price : prices_) price = 1.0 - 2.0 * price + squares;
  }

  const PriceSource& source_;
  int64_t feature_;
  int64_t n_;
  double weight_;
  const int64_t* totals_;
  double total_;
  std::vector<double> prices_;
};

// Runs visit(feature, its prices) for all features that are kept dense.
template <class Visit>
void for_each_feature(const PriceSource& source, const Threads& threads, const Visit& visit) {
  constexpr int64_t kPricesPerThread = int64_t{1} << 14;
  const DenseCounts& counts = source.counts;
  const Threads useful = threads.at_most(counts.n_clusters * counts.n_cells / kPricesPerThread);
  const int64_t d = counts.n_features;
  const int64_t n_tasks = useful.n > 1 ? std::min<int64_t>(d, 8 * useful.n) : 1;
  run_tasks(n_tasks, useful, [&](int64_t i, int, const Stop&) {
    for (int64_t j = d * i / n_tasks; j < d * (i + 1) / n_tasks; ++j) {
      if (counts.is_sparse(j)) continue;
      FeaturePrices prices(source, j);
      visit(j, prices);
    }
  });
}

}  // namespace

void price_ranges(const PriceSource& source, double* least, double* dearest,
                  const Threads& threads) {
  const DenseCounts& counts = source.counts;
  for_each_feature(source, threads, [&](int64_t j, FeaturePrices& prices) {
    for (int64_t i = 0; i < counts.n_clusters; ++i) {
      const std::vector<double>& some = prices.of(i);
      for (size_t v = 0; v < some.size(); ++v) {
        const size_t cell = static_cast<size_t>(counts.offsets[j]) + v;
        least[cell] = i ? std::min(least[cell], some[v]) : some[v];
        dearest[cell] = i ? std::max(dearest[cell], some[v]) : some[v];
      }
    }
  });
}

void fixed_prices(const PriceSource& source, int resolution, const int64_t* offsets, uint32_t* out,
                  int16_t* raised, const Threads& threads) {
  constexpr double kRounded = 1 << kRoundedBits;
  const int64_t d = source.counts.n_features;
  const double scale = std::ldexp(1.0, resolution);
  for_each_feature(source, threads, [&](int64_t j, FeaturePrices& prices) {
    for (int64_t i = 0; i < source.counts.n_clusters; ++i) {
      int64_t at = i * offsets[d] + offsets[j];
      for (const double price : prices.of(i)) {
        const double whole = std::floor(price * scale + 0.5);
        out[at] = static_cast<uint32_t>(whole);
        if (raised)
          raised[at] = static_cast<int16_t>(std::floor((whole - price * scale) * kRounded + 0.5));
        ++at;
      }
    }
  });
}

std::vector<double> squared_shares(const SparseFeature& feature) {
  std::vector<double> sums;
  for (int64_t i = 0; i < feature.n_clusters; ++i) {
    const int32_t* codes = feature.codes + feature.indptr[i];
    const int32_t* end =
        std::lower_bound(codes, feature.codes + feature.indptr[i + 1], feature.n_values);
    const int64_t* counts = feature.counts + feature.indptr[i];
    const double all = sum_of(counts, end - codes);
    double squares = 0.0;
    for (int64_t v = 0; all > 0 && v < end - codes; ++v) {
      const double share = static_cast<double>(counts[v]) / all;
      squares += share * share;
    }
    sums.push_back(squares);
  }
  return sums;
}

}  // namespace softmodes
