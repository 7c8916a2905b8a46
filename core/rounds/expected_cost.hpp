// Counts -> expected cost.
#pragma once

#include <cstdint>

#include "parallel.hpp"
#include "rounds/counts.hpp"

namespace softmodes {

// Sum over clusters and features of weight * size * (1 - sum of squared shares).
// One fixed order of additions, no fused operations: the same double on every machine.
double expected_cost_dense(const DenseCounts& tally, const uint32_t* feature_weight,
                           const Threads& threads);
double expected_cost_sparse(const SparseFeature& tally);

}  // namespace softmodes
