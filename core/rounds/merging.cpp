#include "rounds/merging.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "isa/kernels.hpp"
#include "rounds/prices.hpp"

namespace softmodes {
namespace {

// n log2 n in whole numbers of 2^-bits, of n rows that weigh so much; those of small counts, which
// most are, from a table.
class EntropyTerms {
 public:
  EntropyTerms(double scale, int bits, int64_t n_known) : scale_(scale), bits_(bits) {
    std::vector<double> numbers(static_cast<size_t>(n_known)), logs(numbers.size());
    for (int64_t count = 1; count <= n_known; ++count)
      numbers[count - 1] = static_cast<double>(count) * scale;
    kernels().log2(numbers.data(), n_known, logs.data());
    known_.push_back(0);
    for (int64_t i = 0; i < n_known; ++i) known_.push_back(term(numbers[i], logs[i]));
  }

  int64_t of(int64_t count) const {
    if (count < static_cast<int64_t>(known_.size())) return known_[count];
    const double number = static_cast<double>(count) * scale_;
    return term(number, portable_log2(number));
  }

 private:
  int64_t term(double number, double log) const {
    return static_cast<int64_t>(std::nearbyint(std::ldexp(number * log, bits_)));
  }

  double scale_;
  int bits_;
  std::vector<int64_t> known_;
};

// What one cluster holds, or two of them as one.
struct Members {
  int64_t cluster;
  std::optional<int64_t> other = std::nullopt;
};

// Log-likelihoods of clusters: terms of their cells, less that of what was observed of each
// feature; and those of their sizes.
class Likelihoods {
 public:
  Likelihoods(const MergeSource& source, int64_t n_pairs)
      : source_(source), terms_(source.scale, source.bits, n_known(source, n_pairs)) {}

  // Of two clusters as one, or of one by itself.
  int64_t of(int64_t cluster, int64_t other) const {
    return cluster == other ? of(Members{cluster}) : of(Members{cluster, other});
  }

 private:
  int64_t of(const Members& members) const {
    const DenseCounts& dense = source_.dense;
    const int64_t* sizes = source_.cluster_sizes;
    int64_t sum = terms_.of(sizes[members.cluster] + (members.other ? sizes[*members.other] : 0));
    for (int64_t j = 0; j < dense.n_features; ++j)
      if (!dense.is_sparse(j)) sum += weighed(of_dense(j, members), j);
    if (source_.wide)
      for (int64_t f = 0; f < source_.wide->n_features; ++f)
        sum += weighed(of_wide(f, members), source_.wide->features[f]);
    return sum;
  }

  // No more than are looked up, and no more than there are rows.
  static int64_t n_known(const MergeSource& source, int64_t n_pairs) {
    const int64_t k = source.dense.n_clusters, most = int64_t{1} << 16;
    const int64_t* sizes = source.cluster_sizes;
    return std::min(
        {std::accumulate(sizes, sizes + k, int64_t{0}), n_pairs * source.dense.n_cells, most});
  }

  int64_t of_dense(int64_t feature, const Members& members) const {
    const int64_t* some = source_.dense.of(members.cluster, feature);
    const int64_t* more = members.other ? source_.dense.of(*members.other, feature) : nullptr;
    int64_t observed = 0, sum = 0;
    for (int64_t v = 0; v < source_.dense.n_values[feature]; ++v) {
      const int64_t count = some[v] + (more ? more[v] : 0);
      observed += count;
      sum += terms_.of(count);
    }
    return sum - terms_.of(observed);
  }

  int64_t of_wide(int64_t f, const Members& members) const {
    const WideCounts& wide = *source_.wide;
    const auto some = wide.of(f, members.cluster);
    const auto more = members.other ? wide.of(f, *members.other) : WideCounts::Values{};
    int64_t observed = 0, sum = 0;
    for (int64_t a = 0, b = 0; a < some.n || b < more.n;) {
      const bool in_some = b == more.n || (a < some.n && some.codes[a] <= more.codes[b]);
      const bool in_more = a == some.n || (b < more.n && more.codes[b] <= some.codes[a]);
      const int64_t count = (in_some ? some.counts[a] : 0) + (in_more ? more.counts[b] : 0);
      a += in_some;
      b += in_more;
      observed += count;
      sum += terms_.of(count);
    }
    return sum - terms_.of(observed);
  }

  int64_t weighed(int64_t found, int64_t feature) const {
    if (!source_.feature_weight) return found;
    return static_cast<int64_t>(
        std::nearbyint(static_cast<double>(found) * source_.feature_weight[feature]));
  }

  const MergeSource& source_;
  EntropyTerms terms_;
};

}  // namespace

std::vector<int64_t> merged_likelihoods(const MergeSource& source) {
  const int64_t k = source.dense.n_clusters;
  const Likelihoods likelihoods(source, k * (k + 1) / 2);
  std::vector<int64_t> found(static_cast<size_t>(k * k));
  for (int64_t a = 0; a < k; ++a)
    for (int64_t b = a; b < k; ++b) found[a * k + b] = found[b * k + a] = likelihoods.of(a, b);
  return found;
}

std::vector<int64_t> merged_likelihoods_of(const MergeSource& source, int64_t cluster) {
  const int64_t k = source.dense.n_clusters;
  const Likelihoods likelihoods(source, k);
  std::vector<int64_t> found;
  for (int64_t c = 0; c < k; ++c) found.push_back(likelihoods.of(cluster, c));
  return found;
}

}  // namespace softmodes
