// Counts of many rows, cluster by cluster.
#pragma once

#include "passes/cluster_counts.hpp"
#include "passes/pass.hpp"

namespace softmodes {

// Adds the rows of a block, by weight if they have any, to the dense counts of their clusters; rows
// with label n_clusters are left out.
void count_by_cluster(const CounterMap& map, const Block& block, const int32_t* labels,
                      int64_t n_clusters, int64_t* counts, const Threads& threads);
// What that takes for so many rows.
int64_t count_by_cluster_bytes(const CounterMap& map, const Layout& layout, int64_t n_rows,
                               int64_t n_clusters, const Threads& threads);

}  // namespace softmodes
