// Counts -> expected cost, and that of modes.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "rounds/counts.hpp"

namespace softmodes {

// Sum over clusters and features of weight * size * (1 - sum of squared shares).
// One fixed order of additions, no fused operations: the same double on every machine.
double expected_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight,
                           const Threads& threads);
// Of each sparse feature, without its weight.
std::vector<double> expected_costs_wide(const WideCounts& tally, const Threads& threads);

// Sum over clusters and features of weight * rows that do not hold the mode of their cluster.
int64_t modes_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight,
                         const Threads& threads);

// Rows that hold the most frequent value of their cluster, of each sparse feature; and observed
// ones.
struct ModeCounts {
  std::vector<int64_t> modes, observed;
};
ModeCounts mode_counts_wide(const WideCounts& tally, const Threads& threads);

}  // namespace softmodes
