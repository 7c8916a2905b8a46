// Counts -> which two clusters to merge.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "rounds/counts.hpp"

namespace softmodes {

struct MergeSource {
  DenseCounts dense;
  std::optional<WideCounts> wide;
  const int64_t* cluster_sizes;
  double scale;                  // what a unit of the counts is in rows
  const double* feature_weight;  // null: 1
  int bits;                      // behind the point of a log-likelihood
};

// The pair whose merging loses the least log-likelihood of labels and rows, with the shares that
// were counted; of several, the one with the least weight, and of these the first. In whole numbers
// of 2^-bits: the same pair on every machine.
std::pair<int64_t, int64_t> cheapest_pair(const MergeSource& source);

}  // namespace softmodes
