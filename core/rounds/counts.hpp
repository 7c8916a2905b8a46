// The counts of one tally.
#pragma once

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

// Of one sparse feature: cluster i holds codes[indptr[i] .. indptr[i + 1]), ascending, of which
// those below n_values are values of centers.
struct SparseFeature {
  const int64_t* indptr;
  const int32_t* codes;
  const int64_t* counts;
  int64_t n_clusters;
  int64_t feature;
  int32_t n_values;
};

}  // namespace softmodes
