#include "passes/count_by_cluster.hpp"

namespace softmodes {
namespace {

constexpr int64_t kTasksPerThread = 4;

// Rows of one cluster for one thread to count; no two have the same cells.
struct CountTask {
  int64_t cluster;
  const int32_t* rows;
  int64_t n_rows;
  int64_t* cells;
};

}  // namespace

void count_by_cluster(const CounterMap& map, const Block& block, const int32_t* labels,
                      int64_t n_clusters, int64_t* counts, const Threads& threads) {
  const int64_t n_cells = block.layout.n_cells();
  RowsByCluster sorted;
  sorted.sort(labels, block.n_rows, n_clusters + 1);
  // A large cluster is for several threads; all but its first task count apart, where there are
  // more rows to be counted than counts to be added up.
  const int64_t worth_it = 4 * ceil_div(n_cells, std::max<int64_t>(block.layout.n_features, 1));
  const int64_t most =
      threads.n == 1 ? block.n_rows
                     : std::max(worth_it, ceil_div(block.n_rows, kTasksPerThread * threads.n));
  std::vector<CountTask> tasks;
  std::vector<std::vector<int64_t>> apart;
  for (int64_t c = 0; c < n_clusters; ++c)
    for (int64_t first = 0; first < sorted.size(c); first += most) {
      int64_t* cells = counts + c * n_cells;
      if (first) cells = apart.emplace_back(static_cast<size_t>(n_cells)).data();
      tasks.push_back({c, sorted.begin(c) + first, std::min(most, sorted.size(c) - first), cells});
    }
  run_tasks(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int, const Stop&) {
    count_rows(map, block, tasks[i].rows, tasks[i].n_rows, tasks[i].cells);
  });
  for (const CountTask& task : tasks) {
    int64_t* cells = counts + task.cluster * n_cells;
    if (task.cells == cells) continue;
    for (int64_t i = 0; i < n_cells; ++i) cells[i] += task.cells[i];
  }
}

int64_t count_by_cluster_bytes(const CounterMap& map, const Layout& layout, int64_t n_rows,
                               int64_t n_clusters, const Threads& threads) {
  const int64_t n_apart = threads.n == 1 ? 0 : kTasksPerThread * threads.n;
  return RowsByCluster::bytes(n_rows, n_clusters + 1) + 8 * layout.n_cells() * n_apart +
         threads.n * count_rows_bytes(map);
}

}  // namespace softmodes
