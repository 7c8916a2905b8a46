// What happens between two passes over the rows: counts -> next centers, counts -> expected cost.
#pragma once
#include <cstdint>

namespace softmodes {

// The dense counts of one tally: counts[cluster * n_cells + offsets[feature] + code].
// A center takes one of the first sizes[feature] codes; a wide feature (offsets equal) has no
// cells.
struct DenseCounts {
  const int64_t* counts;
  const int64_t* offsets;
  const int32_t* sizes;
  int64_t n_clusters;
  int64_t n_features;
  int64_t n_cells;

  bool is_wide(int64_t feature) const { return offsets[feature] == offsets[feature + 1]; }
  const int64_t* of(int64_t cluster, int64_t feature) const {
    return counts + cluster * n_cells + offsets[feature];
  }
};

// The sparse counts of one wide feature: cluster i holds codes[indptr[i] .. indptr[i + 1]).
struct WideCounts {
  const int64_t* indptr;
  const int32_t* codes;
  const int64_t* counts;
  int64_t n_clusters;
  int64_t feature;
};

// Draws every center value with probability proportional to count^t; t = infinity takes the most
// frequent value, ties by the smallest hash. A cell of `centers` without any count is kept.
void draw_dense(const DenseCounts& tally, double t, uint64_t key, int32_t* centers, int n_threads);
void draw_wide(const WideCounts& tally, int32_t size, double t, uint64_t key, int32_t* centers,
               int64_t n_features);

// Sum over clusters and features of weight * size * (1 - sum of squared shares).
// One fixed order of additions, no fused operations: the same double on every machine.
double expected_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight, int n_threads);
double expected_cost_wide(const WideCounts& tally, int32_t size);

}  // namespace softmodes
