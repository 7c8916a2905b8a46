// What passes over the rows of a block have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "parallel.hpp"
#include "plan.hpp"

namespace softmodes {

// Row numbers inside a range fit in 32 bits, and so do counts.
constexpr int64_t kRangeRows = int64_t{1} << 30;
constexpr int64_t kThreadWork = int64_t{1} << 22;  // byte comparisons worth starting a thread for

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int useful_threads(const Block& block, int64_t n_centers, int n_threads) {
  const int64_t work = block.n_rows * (n_centers + 8) * block.layout.stride / kThreadWork;
  return busy_threads(work, n_threads);
}

struct Tile {
  explicit Tile(const CenterPlan& plan)
      : rows(plan.view().tile_rows * plan.view().stride),
        tile(plan.tile_bytes()),
        distances(plan.distances_bytes()),
        planes(plan.planes_bytes()),
        offers(plan.view().sliced ? plan.view().n_centers * plan.view().tile_rows / 4 : 0) {}
  TileScratch view() const {
    return {rows.data(), tile.data(), distances.data(), planes.data(), offers.data()};
  }
  Buffer rows, tile, distances, planes, offers;
};

// The rows of a chunk or range, by cluster: order[start[c] .. start[c + 1]).
class ByCluster {
 public:
  void sort(const int32_t* labels, int64_t n, int64_t k) {
    order_.resize(static_cast<size_t>(n) + 16);
    start_.resize(static_cast<size_t>(k) + 1);
    if (k <= kernels().few_clusters)
      kernels().group(labels, n, k, order_.data(), start_.data());
    else
      count_sort(labels, n, k);
  }
  const int32_t* begin(int64_t c) const { return order_.data() + start_[c]; }
  int64_t size(int64_t c) const { return start_[c + 1] - start_[c]; }

 private:
  static constexpr int kParts = 4;

  void count_sort(const int32_t* labels, int64_t n, int64_t k) {
    // Each quarter of the rows has its own counters: rows of one cluster, one after the other,
    // need not wait for each other.
    const int64_t quarter = n / kParts;
    next_.assign(static_cast<size_t>(k * kParts), 0);
    for_each_row(quarter, n, [&](int64_t i, int part) { ++next_[labels[i] * kParts + part]; });
    int64_t sum = 0;
    for (int64_t c = 0; c < k; ++c) {
      start_[c] = sum;
      for (int part = 0; part < kParts; ++part)
        sum += std::exchange(next_[c * kParts + part], static_cast<int32_t>(sum));
    }
    start_[k] = sum;
    for_each_row(quarter, n, [&](int64_t i, int part) {
      order_[next_[labels[i] * kParts + part]++] = static_cast<int32_t>(i);
    });
  }
  template <class F>
  static void for_each_row(int64_t quarter, int64_t n, const F& f) {
    for (int64_t i = 0; i < quarter; ++i)
      for (int part = 0; part < kParts; ++part) f(part * quarter + i, part);
    for (int64_t i = kParts * quarter; i < n; ++i) f(i, kParts - 1);
  }

  std::vector<int32_t> order_;
  std::vector<int64_t> start_;
  std::vector<int32_t> next_;
};

inline Block part(const Block& block, int64_t first, int64_t n) {
  return {block.layout, block.rows + first * block.layout.stride, n, block.first_row + first,
          block.weight ? block.weight + first : nullptr};
}

}  // namespace softmodes
