#include "rounds/merging.hpp"

#include <cmath>
#include <vector>

#include "isa/kernels.hpp"
#include "rounds/prices.hpp"

namespace softmodes {
namespace {

// What one cluster holds, or two of them as one.
struct Members {
  int64_t cluster;
  std::optional<int64_t> other = std::nullopt;
};

// Log-likelihoods of clusters: n log2 n, summed over their cells, less that of what was observed of
// each feature; and that of their sizes.
class Likelihoods {
 public:
  explicit Likelihoods(const MergeSource& source) : source_(source) {}

  // Of two clusters as one, or of one by itself.
  int64_t of(int64_t cluster, int64_t other) {
    return cluster == other ? of(Members{cluster}) : of(Members{cluster, other});
  }

 private:
  struct Feature {
    int64_t number;
    size_t end;  // of its numbers, the last of which is what was observed
  };

  int64_t of(const Members& members) {
    const DenseCounts& dense = source_.dense;
    numbers_.clear();
    features_.clear();
    for (int64_t j = 0; j < dense.n_features; ++j)
      if (!dense.is_sparse(j)) add_dense(j, members);
    if (source_.wide)
      for (int64_t f = 0; f < source_.wide->n_features; ++f) add_wide(f, members);
    return of_size(members) + of_features();
  }

  void add_dense(int64_t feature, const Members& members) {
    const int64_t* some = source_.dense.of(members.cluster, feature);
    const int64_t* more = members.other ? source_.dense.of(*members.other, feature) : nullptr;
    int64_t observed = 0;
    for (int64_t v = 0; v < source_.dense.n_values[feature]; ++v)
      observed += add(some[v] + (more ? more[v] : 0));
    end_feature(feature, observed);
  }

  void add_wide(int64_t f, const Members& members) {
    const WideCounts& wide = *source_.wide;
    const auto some = wide.of(f, members.cluster);
    const auto more = members.other ? wide.of(f, *members.other) : WideCounts::Values{};
    int64_t observed = 0;
    for (int64_t a = 0, b = 0; a < some.n || b < more.n;) {
      const bool in_some = b == more.n || (a < some.n && some.codes[a] <= more.codes[b]);
      const bool in_more = a == some.n || (b < more.n && more.codes[b] <= some.codes[a]);
      observed += add((in_some ? some.counts[a] : 0) + (in_more ? more.counts[b] : 0));
      a += in_some;
      b += in_more;
    }
    end_feature(wide.features[f], observed);
  }

  int64_t add(int64_t count) {
    if (count) numbers_.push_back(static_cast<double>(count) * source_.scale);
    return count;
  }
  void end_feature(int64_t number, int64_t observed) {
    if (add(observed)) features_.push_back({number, numbers_.size()});
  }

  int64_t of_size(const Members& members) const {
    const int64_t* sizes = source_.cluster_sizes;
    const int64_t size = sizes[members.cluster] + (members.other ? sizes[*members.other] : 0);
    if (!size) return 0;
    const double in_rows = static_cast<double>(size) * source_.scale;
    return n_log_n(in_rows, portable_log2(in_rows));
  }

  int64_t of_features() {
    logs_.resize(numbers_.size());
    kernels().log2(numbers_.data(), static_cast<int64_t>(numbers_.size()), logs_.data());
    int64_t sum = 0;
    size_t i = 0;
    for (const Feature& feature : features_) {
      int64_t found = 0;
      for (; i + 1 < feature.end; ++i) found += n_log_n(numbers_[i], logs_[i]);
      found -= n_log_n(numbers_[i], logs_[i]);
      ++i;
      sum += weighed(found, feature.number);
    }
    return sum;
  }

  int64_t n_log_n(double n, double log) const {
    return static_cast<int64_t>(std::nearbyint(std::ldexp(n * log, source_.bits)));
  }
  int64_t weighed(int64_t found, int64_t feature) const {
    if (!source_.feature_weight) return found;
    return static_cast<int64_t>(
        std::nearbyint(static_cast<double>(found) * source_.feature_weight[feature]));
  }

  const MergeSource& source_;
  std::vector<double> numbers_, logs_;
  std::vector<Feature> features_;
};

}  // namespace

std::vector<int64_t> merged_likelihoods(const MergeSource& source) {
  const int64_t k = source.dense.n_clusters;
  Likelihoods likelihoods(source);
  std::vector<int64_t> found(static_cast<size_t>(k * k));
  for (int64_t a = 0; a < k; ++a)
    for (int64_t b = a; b < k; ++b) found[a * k + b] = found[b * k + a] = likelihoods.of(a, b);
  return found;
}

std::vector<int64_t> merged_likelihoods_of(const MergeSource& source, int64_t cluster) {
  Likelihoods likelihoods(source);
  std::vector<int64_t> found;
  for (int64_t c = 0; c < source.dense.n_clusters; ++c) found.push_back(likelihoods.of(cluster, c));
  return found;
}

}  // namespace softmodes
