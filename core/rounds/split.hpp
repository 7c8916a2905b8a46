// Work between two passes, by cluster or by feature.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel.hpp"
#include "rounds/counts.hpp"

namespace softmodes {

constexpr int64_t kCellsPerThread = int64_t{1} << 16;  // to be summed

// Runs task(first, last) on some of the clusters begin .. end at a time, with as many threads as
// have enough to do.
template <class Task>
void split_clusters(const DenseCounts& tally, int64_t begin, int64_t end, const Threads& threads,
                    const Task& task, int64_t cells_per_thread = kCellsPerThread) {
  const int64_t k = end - begin;
  const Threads useful = threads.at_most(k * tally.n_cells / cells_per_thread);
  const int64_t n_tasks = useful.n > 1 ? std::min<int64_t>(k, 4 * useful.n) : 1;
  run_tasks(n_tasks, useful, [&](int64_t i, int, const Stop&) {
    task(begin + k * i / n_tasks, begin + k * (i + 1) / n_tasks);
  });
}

// Runs task(f) for each of n features with so many numbers together.
template <class Task>
void split_features(int64_t n, int64_t n_numbers, const Threads& threads, const Task& task) {
  constexpr int64_t kNumbersPerThread = int64_t{1} << 14;
  const Threads useful = threads.at_most(n_numbers / kNumbersPerThread);
  const int64_t n_tasks =
      useful.n > 1 ? std::min<int64_t>(n, 8 * useful.n) : std::min<int64_t>(n, 1);
  run_tasks(n_tasks, useful, [&](int64_t i, int, const Stop&) {
    for (int64_t f = n * i / n_tasks; f < n * (i + 1) / n_tasks; ++f) task(f);
  });
}

// Runs task(f) for each sparse feature.
template <class Task>
void split_features(const WideCounts& tally, const Threads& threads, const Task& task) {
  split_features(tally.n_features, tally.n_counts(), threads, task);
}

}  // namespace softmodes
