// Counts -> what it costs to merge two clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

// Log-likelihood of labels and rows, with the shares that were counted, of any two clusters as one
// and, on the diagonal, of each by itself. In whole numbers of 2^-bits: the same on every machine.
std::vector<int64_t> merged_likelihoods(const MergeSource& source);

// The row of one cluster in it.
std::vector<int64_t> merged_likelihoods_of(const MergeSource& source, int64_t cluster);

}  // namespace softmodes
