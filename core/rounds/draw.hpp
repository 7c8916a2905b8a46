// Counts -> next centers.
#pragma once

#include <cstdint>

#include "parallel.hpp"
#include "rounds/counts.hpp"

namespace softmodes {

// Draws every center value with probability proportional to count^t; t = infinity takes the most
// frequent value, ties by the smallest hash. A value of `centers` without any count is kept.
void draw_dense(const DenseCounts& tally, double t, uint64_t key, int32_t* centers,
                const Threads& threads);
void draw_wide(const WideCounts& tally, double t, uint64_t key, int32_t* centers,
               int64_t n_features, const Threads& threads);

}  // namespace softmodes
