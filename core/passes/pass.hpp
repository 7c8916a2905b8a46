// What passes over the rows of a block have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "centers/plan.hpp"
#include "layout/layout.hpp"

namespace softmodes {

// Row numbers among so many fit in 32 bits, and so do counts.
constexpr int64_t kMostRowsAtOnce = int64_t{1} << 30;
constexpr int64_t kThreadWork = int64_t{1} << 22;  // byte comparisons worth starting a thread for

inline Threads useful_threads(const Block& block, int64_t n_centers, const Threads& threads) {
  const int64_t work = block.n_rows * (n_centers + 8) * block.layout.stride / kThreadWork;
  return threads.at_most(std::min(work, ceil_div(block.n_rows, kTileRows)));
}

// For rows that are counted cluster by cluster: also where they are too few to be compared by more
// threads than one.
inline Threads counting_threads(const Block& block, const Threads& threads) {
  constexpr int64_t kCellsPerThread = int64_t{1} << 17;
  return threads.at_most(block.n_rows * block.layout.n_features / kCellsPerThread);
}

inline std::vector<ThreadScratch> make_scratch(const ScratchSizes& sizes, const Threads& threads) {
  std::vector<ThreadScratch> scratch;
  for (int t = 0; t < threads.n; ++t) scratch.emplace_back(sizes);
  return scratch;
}

// Rows by cluster: order[start[c] .. start[c + 1]).
class RowsByCluster {
 public:
  void sort(const int32_t* labels, int64_t n, int64_t k) {
    order_.resize(static_cast<size_t>(n) + 16);
    start_.resize(static_cast<size_t>(k) + 1);
    if (k <= kernels().few_clusters)
      kernels().list_by_cluster(labels, n, k, order_.data(), start_.data());
    else
      count_sort(labels, n, k);
  }
  // Bytes that sorting takes.
  static int64_t bytes(int64_t n, int64_t k) {
    return 4 * (n + 16) + 8 * (k + 1) + 4 * kCounters * k;
  }
  const int32_t* begin(int64_t c) const { return order_.data() + start_[c]; }
  int64_t size(int64_t c) const { return start_[c + 1] - start_[c]; }

 private:
  static constexpr int kCounters = 4;

  void count_sort(const int32_t* labels, int64_t n, int64_t k) {
    // Each quarter of the rows has its own counter: rows of one cluster, one after the other,
    // need not wait for each other.
    const int64_t quarter = n / kCounters;
    next_.assign(static_cast<size_t>(k * kCounters), 0);
    for_each_row(quarter, n, [&](int64_t i, int turn) { ++next_[labels[i] * kCounters + turn]; });
    int64_t sum = 0;
    for (int64_t c = 0; c < k; ++c) {
      start_[c] = sum;
      for (int turn = 0; turn < kCounters; ++turn)
        sum += std::exchange(next_[c * kCounters + turn], static_cast<int32_t>(sum));
    }
    start_[k] = sum;
    for_each_row(quarter, n, [&](int64_t i, int turn) {
      order_[next_[labels[i] * kCounters + turn]++] = static_cast<int32_t>(i);
    });
  }
  template <class F>
  static void for_each_row(int64_t quarter, int64_t n, const F& f) {
    for (int64_t i = 0; i < quarter; ++i)
      for (int turn = 0; turn < kCounters; ++turn) f(turn * quarter + i, turn);
    for (int64_t i = kCounters * quarter; i < n; ++i) f(i, kCounters - 1);
  }

  std::vector<int32_t> order_;
  std::vector<int64_t> start_;
  std::vector<int32_t> next_;
};

}  // namespace softmodes
