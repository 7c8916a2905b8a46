// Passes over the packed rows of a block. Results do not depend on threads or instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "centers/centers.hpp"
#include "layout/layout.hpp"
#include "parallel.hpp"
#include "sum128.hpp"

namespace softmodes {

// Where a tally goes; null: not wanted.
struct TallyOut {
  int64_t* counts;         // n_centers x n_cells, added to
  int64_t* cluster_sizes;  // n_centers, added to
  int32_t* labels;         // per row
  uint32_t* distances;     // per row, to the nearest center

  TallyOut rows_from(int64_t first) const {
    return {counts, cluster_sizes, labels ? labels + first : nullptr,
            distances ? distances + first : nullptr};
  }
};

struct TallySum {
  int64_t cost = 0;
  uint64_t fingerprint = 0;
  TallySum& operator+=(const TallySum& other) {
    cost += other.cost;
    fingerprint += other.fingerprint;
    return *this;
  }
};

// The nearest centers, and what follows from them.
TallySum tally(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
               const TallyOut& out, const Threads& threads);

// Brings a tally, of which everything was kept, up to date after the centers `changed`, in
// ascending order, have changed. Returns by how much cost and fingerprint have grown.
TallySum update(const Block& block, const Centers& centers, const std::vector<int32_t>& changed,
                std::optional<uint64_t> tie_key, const TallyOut& kept, const Threads& threads);

// The most working memory that these take beyond what they are given, on however many rows; an
// update takes some bytes more for every row that moves.
int64_t tally_bytes(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight,
                    const Threads& threads);
int64_t update_bytes(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight,
                     const Threads& threads);

// Where a soft tally goes; both are added to. A row counts 2^kPartBits in all.
struct SoftOut {
  int64_t* counts;         // n_centers x n_cells
  int64_t* cluster_sizes;  // n_centers
};

// The counts of one feature by cluster: codes, ascending, from indptr[cluster].
struct SparseCounts {
  std::vector<int64_t> indptr;
  std::vector<int32_t> codes;
  std::vector<int64_t> counts;
};

// Those of all features, one after the other: cluster c of the f-th begins at starts[f * k + c].
struct JoinedCounts {
  std::vector<int64_t> starts;
  std::unique_ptr<int32_t[]> codes;
  std::unique_ptr<int64_t[]> counts;
  int64_t n = 0;
};
JoinedCounts joined(const std::vector<SparseCounts>& sparse, const Threads& threads);

// Sums over the rows, by weight: of the least totals above the floor, and of the logarithms of the
// sums of powers, in units of 2^-kLogBits.
struct SoftSum {
  Sum128 least, log;
  std::vector<SparseCounts> sparse;  // of the layout's sparse features
};

// Shares every row among the clusters by scores, and counts the parts.
SoftSum soft_tally(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
                   const SoftOut& out, const Threads& threads);

// What rows get by scores; null: not wanted.
struct RowScores {
  int64_t* totals;  // n_rows x n_centers, with the floor
  uint32_t* parts;  // n_rows x n_centers
  double* logs;     // per row: log2 of the sum of 2^-total
};
void score_rows(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
                const RowScores& out, const Threads& threads);

// The most working memory that passes by scores take beyond what they are given.
int64_t score_bytes(const Layout& layout, int64_t n_centers, const Threads& threads);

// out[row * n_centers + center].
void distances(const Block& block, const Centers& centers, uint32_t* out, const Threads& threads);

// Rows that one thread deals with at a time; sums are kept for each such number.
constexpr int64_t kTaskRows = 4096;

// out[center * n_rows + row]; totals[i * n_centers + center]: sum of weight * min(current,
// distance) over the i-th kTaskRows rows.
template <class D>
void candidate_totals(const Block& block, const Centers& centers, const D* current, D* out,
                      int64_t* totals, const Threads& threads);

// Rows that are nearer to a center than `current` says: those of center c, ascending, from
// start[c].
template <class D>
struct NearerRows {
  std::vector<int64_t> start;
  std::vector<int64_t> rows;
  std::vector<D> distances;
};
template <class D>
NearerRows<D> nearer(const Block& block, const Centers& centers, const D* current,
                     const Threads& threads);

// Of the layout's sparse features, by labels.
std::vector<SparseCounts> sparse_counts(const Block& block, const int32_t* labels, int64_t k,
                                        const Threads& threads);

}  // namespace softmodes
