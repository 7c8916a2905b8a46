// The counts of one tally.
#pragma once

#include <algorithm>
#include <cstdint>

namespace softmodes {

// Dense: counts[cluster * n_cells + offsets[feature] + code]. A center takes one of the first
// n_values[feature] codes; a sparse feature (offsets equal) has no cells.
struct DenseCounts {
  const int64_t* counts;
  const int64_t* offsets;
  const int32_t* n_values;
  int64_t n_clusters;
  int64_t n_features;
  int64_t n_cells;

  bool is_sparse(int64_t feature) const { return offsets[feature] == offsets[feature + 1]; }
  const int64_t* of(int64_t cluster, int64_t feature) const {
    return counts + cluster * n_cells + offsets[feature];
  }
};

// Of all sparse features, one after the other: cluster i of the f-th holds the codes from
// starts[f * n_clusters + i] on, ascending, of which those below n_values[f] are values of centers.
struct WideCounts {
  const int64_t* starts;
  const int32_t* codes;
  const int64_t* counts;
  const int32_t* features;  // their numbers, ascending
  const int32_t* n_values;
  int64_t n_features;
  int64_t n_clusters;

  struct Values {
    const int32_t* codes;
    const int64_t* counts;
    int64_t n;
  };
  Values of(int64_t f, int64_t cluster) const {
    const int64_t* start = starts + f * n_clusters + cluster;
    const int32_t* end = std::lower_bound(codes + start[0], codes + start[1], n_values[f]);
    return {codes + start[0], counts + start[0], end - (codes + start[0])};
  }
  int64_t n_counts() const { return starts[n_features * n_clusters]; }
};

}  // namespace softmodes
