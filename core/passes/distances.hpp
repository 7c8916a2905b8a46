// A visit to the distances of all rows to all centers.
#pragma once

#include "passes/pass.hpp"
#include "passes/passes.hpp"

namespace softmodes {

// Runs visit(first row, n rows, center, distances) for every tile and center; kTaskRows rows are
// one thread's.
template <class Visit>
void for_each_distance(const Block& block, const Centers& centers, const Threads& threads,
                       const Visit& visit) {
  static_assert(kTaskRows % kTileRows == 0);
  const Kernels& isa = kernels();
  const DistancePlan plan = make_distance_plan(block.layout, centers, block.n_rows, isa);
  const Threads useful = useful_threads(block, centers.n, threads);
  const auto scratch = make_scratch(scratch_sizes(plan), useful);
  const auto at_once = static_cast<size_t>(std::min<int64_t>(centers.n, kGroup) * kTileRows);
  std::vector<std::vector<uint32_t>> found(scratch.size(), std::vector<uint32_t>(at_once));
  run_tasks(ceil_div(block.n_rows, kTaskRows), useful,
            [&](int64_t i, int thread, const Stop& stop) {
              const int64_t end = std::min(block.n_rows, (i + 1) * kTaskRows);
              for (int64_t r = i * kTaskRows; r < end && !stop.requested(); r += kTileRows) {
                const int64_t n = std::min<int64_t>(kTileRows, end - r);
                const TileRows rows{block.rows + r * block.layout.stride, n};
                const auto each = [&](int64_t first, int64_t n_centers, const uint32_t* distances) {
                  for (int64_t c = 0; c < n_centers; ++c)
                    visit(r, n, first + c, distances + c * kTileRows);
                };
                std::visit(
                    [&](const auto& p) {
                      p.distances(isa, rows, scratch[thread].view(), found[thread].data(), each);
                    },
                    plan);
              }
            });
}

}  // namespace softmodes
