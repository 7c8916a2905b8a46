// Passes over the packed rows of a block. Results do not depend on threads or instruction set.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "layout.hpp"
#include "parallel.hpp"
#include "plan.hpp"

namespace softmodes {

struct Run {
  int n_threads;
  Interrupted interrupted;
};

struct Interrupt {};  // thrown when a pass was given up

// Where a tally goes; null: not wanted.
struct TallyOut {
  int64_t* counts;  // n_centers x n_cells, added to
  int64_t* sizes;   // n_centers, added to
  int32_t* labels;  // per row
  uint32_t* distances = nullptr;
};

struct TallySum {
  int64_t cost = 0;
  uint64_t fingerprint = 0;
};

TallySum tally(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
               const TallyOut& out, const Run& run);

// What a tally found, to be brought up to date; labels and distances for every row.
struct KeptTally {
  int64_t* counts;
  int64_t* sizes;
  int32_t* labels;
  uint32_t* distances;
};

// Brings a tally up to date after the centers `changed`, in ascending order, have changed. Returns
// by how much cost and fingerprint have grown.
TallySum update(const Block& block, const Centers& centers, const std::vector<int32_t>& changed,
                std::optional<uint64_t> tie_key, const KeptTally& kept, const Run& run);

// out[row * n_centers + center].
void distances(const Block& block, const Centers& centers, uint32_t* out, const Run& run);

// Rows that one thread deals with at a time; sums are kept for each such part.
constexpr int64_t kTaskRows = 4096;

// out[center * n_rows + row]; totals[i * n_centers + center]: sum of weight * min(current,
// distance) over the i-th kTaskRows rows.
template <class D>
void candidate_totals(const Block& block, const Centers& centers, const D* current, D* out,
                      int64_t* totals, const Run& run);

// Rows that are nearer to a center than `current` says: those of center c, ascending, from
// start[c].
template <class D>
struct NearerRows {
  std::vector<int64_t> start;
  std::vector<int64_t> rows;
  std::vector<D> distances;
};
template <class D>
NearerRows<D> nearer(const Block& block, const Centers& centers, const D* current, const Run& run);

struct SparseCounts {
  std::vector<int64_t> indptr;
  std::vector<int32_t> codes;
  std::vector<int64_t> counts;
};
SparseCounts wide_counts(const Block& block, int64_t feature, const int32_t* labels, int64_t k);

void unpack(const Block& block, const int64_t* rows, int64_t n, int32_t* out);

}  // namespace softmodes
