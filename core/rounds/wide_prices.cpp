#include "rounds/wide_prices.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "isa/kernels.hpp"
#include "rounds/fixed_price.hpp"
#include "rounds/split.hpp"

namespace softmodes {
namespace {

struct Observed {
  int64_t rows = 0;
  double squared_shares = 0.0;
};

Observed observed_in(const WideCounts::Values& values) {
  Observed found;
  for (int64_t v = 0; v < values.n; ++v) found.rows += values.counts[v];
  const auto all = static_cast<double>(found.rows);
  for (int64_t v = 0; all > 0 && v < values.n; ++v) {
    const double share = static_cast<double>(values.counts[v]) / all;
    found.squared_shares += share * share;
  }
  return found;
}

// Of one feature after the other.
class FeaturePrices {
 public:
  FeaturePrices(const WideSource& source, double* usual, double* bonus, int64_t* observed)
      : source_(source), usual_(usual), bonus_(bonus), observed_(observed) {}

  void operator()(int64_t f) const {
    const int64_t k = source_.counts.n_clusters;
    double* usual = usual_ + f * k;
    int64_t* rows = observed_ + f * k;
    const int64_t first = indptr(f, 0), n = indptr(f + 1, 0) - first;
    double* bonus = bonus_ + first;
    const int32_t* clusters = source_.by_value.cells.clusters + first;
    const int64_t* counts = source_.by_value.numbers + first;
    for (int64_t c = 0; c < k; ++c) {
      const Observed found = observed_in(source_.counts.of(f, c));
      rows[c] = found.rows;
      usual[c] = source_.rule == PriceRule::gini
                     ? 1.0 + found.squared_shares
                     : (static_cast<double>(found.rows) + source_.prior) / source_.prior;
    }
    if (source_.rule == PriceRule::gini) {
      for (int64_t e = 0; e < n; ++e)  // rows without weight may be counted as nothing
        bonus[e] = counts[e] ? 2.0 * static_cast<double>(counts[e]) /
                                   static_cast<double>(rows[clusters[e]])
                             : 0.0;
    } else {
      for (int64_t v = source_.value_starts[f]; v < source_.value_starts[f + 1]; ++v) {
        const double rows_of_prior = source_.prior * source_.shares[v];
        for (int64_t e = indptr(v); e < indptr(v + 1); ++e)
          bonus[e - first] = static_cast<double>(counts[e - first]) / rows_of_prior + 1.0;
      }
      take_logarithms(usual, k);
      take_logarithms(bonus, n);
    }
    const double weight = source_.feature_weight[f];
    for (int64_t c = 0; c < k; ++c) usual[c] *= weight;
    for (int64_t e = 0; e < n; ++e) bonus[e] *= weight;
  }

 private:
  int64_t indptr(int64_t v) const { return source_.by_value.cells.indptr[v]; }
  int64_t indptr(int64_t f, int64_t v) const { return indptr(source_.value_starts[f] + v); }

  static void take_logarithms(double* numbers, int64_t n) {
    constexpr int64_t kAtOnce = 512;
    double logs[kAtOnce];
    for (int64_t i = 0; i < n; i += kAtOnce) {
      const int64_t some = std::min(kAtOnce, n - i);
      kernels().log2(numbers + i, some, logs);
      std::copy_n(logs, some, numbers + i);
    }
  }

  const WideSource& source_;
  double* usual_;
  double* bonus_;
  int64_t* observed_;
};

}  // namespace

ByValue<int64_t> counts_by_value(const WideCounts& tally, const int64_t* value_starts,
                                 const Threads& threads) {
  const int64_t k = tally.n_clusters, n_values = value_starts[tally.n_features];
  std::vector<int64_t> first(static_cast<size_t>(tally.n_features) + 1);
  for (int64_t f = 0; f < tally.n_features; ++f) {
    first[f + 1] = first[f];
    for (int64_t c = 0; c < k; ++c) first[f + 1] += tally.of(f, c).n;
  }
  ByValue<int64_t> found;
  found.indptr.resize(static_cast<size_t>(n_values) + 1);
  found.clusters.resize(static_cast<size_t>(first.back()));
  found.numbers.resize(found.clusters.size());
  split_features(tally, threads, [&](int64_t f) {
    std::vector<int64_t> next(static_cast<size_t>(tally.n_values[f]));
    for (int64_t c = 0; c < k; ++c) {
      const WideCounts::Values values = tally.of(f, c);
      for (int64_t i = 0; i < values.n; ++i) ++next[values.codes[i]];
    }
    int64_t sum = first[f];
    for (size_t v = 0; v < next.size(); ++v) {
      found.indptr[value_starts[f] + static_cast<int64_t>(v)] = sum;
      sum += std::exchange(next[v], sum);
    }
    for (int64_t c = 0; c < k; ++c) {
      const WideCounts::Values values = tally.of(f, c);
      for (int64_t i = 0; i < values.n; ++i) {
        const int64_t at = next[values.codes[i]]++;
        found.clusters[at] = static_cast<int32_t>(c);
        found.numbers[at] = values.counts[i];
      }
    }
  });
  found.indptr[n_values] = first.back();
  return found;
}

void wide_prices(const WideSource& source, double* usual, double* bonus, int64_t* observed,
                 const Threads& threads) {
  split_features(source.counts, threads, FeaturePrices(source, usual, bonus, observed));
}

void fixed_bonuses(const WideShape& shape, const ByValueView<double>& bonus, const uint32_t* usual,
                   const uint32_t* shared, int resolution, uint32_t* out, int16_t* raised,
                   const Threads& threads) {
  const double scale = std::ldexp(1.0, resolution);
  const ValueCells& cells = bonus.cells;
  shape.split(cells, threads, [&](int64_t f) {
    const uint32_t* own = usual + f * shape.n_clusters;
    for (int64_t v = shape.value_starts[f]; v < shape.value_starts[f + 1]; ++v)
      for (int64_t e = cells.indptr[v]; e < cells.indptr[v + 1]; ++e) {
        const double price = bonus.numbers[e] * scale;
        const int64_t rounded = rounded_price(price);
        // Three roundings might make a price negative that is nearly nothing.
        const int64_t most = int64_t{own[cells.clusters[e]]} + shared[v];
        out[e] = static_cast<uint32_t>(std::min(rounded, most));
        raised[e] = raised_by(price, rounded);
      }
  });
}

int64_t sum_of_raised(const WideShape& shape, const ByValueView<int64_t>& counts, int less,
                      const WideRaised& raised, const Threads& threads) {
  std::vector<uint64_t> sums(static_cast<size_t>(shape.n_features));
  const ValueCells &counted = counts.cells, &priced = raised.bonus.cells;
  const bool same_cells = counted.clusters == priced.clusters && counted.indptr == priced.indptr;
  shape.split(counted, threads, [&](int64_t f) {
    const int16_t* usual = raised.usual + f * shape.n_clusters;
    uint64_t sum = 0;
    const auto add = [&](int64_t e, int64_t v, int64_t bonus) {
      const int64_t by = int64_t{usual[counted.clusters[e]]} + raised.shared[v] - bonus;
      sum += static_cast<uint64_t>((counts.numbers[e] >> less) * by);
    };
    for (int64_t v = shape.value_starts[f]; v < shape.value_starts[f + 1]; ++v) {
      int64_t b = priced.indptr[v];
      const int64_t end = priced.indptr[v + 1];
      for (int64_t e = counted.indptr[v]; e < counted.indptr[v + 1]; ++e) {
        if (same_cells) {
          add(e, v, raised.bonus.numbers[e]);
          continue;
        }
        const int32_t cluster = counted.clusters[e];
        while (b < end && priced.clusters[b] < cluster) ++b;
        add(e, v, b < end && priced.clusters[b] == cluster ? raised.bonus.numbers[b] : 0);
      }
    }
    sums[f] = sum;
  });
  return static_cast<int64_t>(std::accumulate(sums.begin(), sums.end(), uint64_t{0}));
}

void sums_before_rounding(const WideShape& shape, const WideFixed& prices, const WideRaised& raised,
                          double* out, const Threads& threads) {
  const int64_t k = shape.n_clusters;
  const ValueCells& cells = raised.bonus.cells;
  shape.split(cells, threads, [&](int64_t f) {
    int64_t usual = 0, usual_raised = 0;
    for (int64_t c = f * k; c < (f + 1) * k; ++c) {
      usual += prices.usual[c];
      usual_raised += raised.usual[c];
    }
    for (int64_t v = shape.value_starts[f]; v < shape.value_starts[f + 1]; ++v) {
      int64_t sum = usual + k * prices.shared[v];
      int64_t sum_raised = usual_raised + k * raised.shared[v];
      for (int64_t e = cells.indptr[v]; e < cells.indptr[v + 1]; ++e) {
        sum -= prices.bonus[e];
        sum_raised -= raised.bonus.numbers[e];
      }
      out[v] = before_rounding(sum, sum_raised);
    }
  });
}

void renumber_clusters(int64_t n_values, int64_t n_clusters, const int64_t* indptr,
                       const int32_t* rank, int32_t* clusters, uint32_t* numbers) {
  constexpr int64_t kFewClusters = 8;  // for each that a value has: look at all of them in turn
  std::vector<int64_t> place(static_cast<size_t>(n_clusters), -1);
  std::vector<std::pair<int32_t, uint32_t>> sorted;
  for (int64_t v = 0; v < n_values; ++v) {
    const int64_t first = indptr[v], n = indptr[v + 1] - first;
    if (n == 1) {
      clusters[first] = rank[clusters[first]];
      continue;
    }
    sorted.clear();
    if (n * kFewClusters >= n_clusters) {
      for (int64_t e = first; e < first + n; ++e) place[rank[clusters[e]]] = e;
      for (int32_t c = 0; c < n_clusters; ++c)
        if (const int64_t e = std::exchange(place[c], -1); e >= 0)
          sorted.emplace_back(c, numbers[e]);
    } else {
      for (int64_t e = first; e < first + n; ++e)
        sorted.emplace_back(rank[clusters[e]], numbers[e]);
      std::sort(sorted.begin(), sorted.end());
    }
    for (int64_t i = 0; i < n; ++i) std::tie(clusters[first + i], numbers[first + i]) = sorted[i];
  }
}

}  // namespace softmodes
