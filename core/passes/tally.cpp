#include <memory>

#include "hashing.hpp"
#include "layout/row_hasher.hpp"
#include "passes/count_by_cluster.hpp"
#include "passes/pass.hpp"
#include "passes/passes.hpp"

namespace softmodes {
namespace {

constexpr int64_t kChunkBytes = int64_t{1} << 19;  // rows to assign and then count while in L2
constexpr int64_t kChunkRowsPerCluster = 64;       // fewer would not pay for the counters
constexpr int64_t kChunkRowsMost = int64_t{1} << 17;
constexpr int64_t kCounterBytes = int64_t{1} << 20;  // counters of all clusters that stay in L2

// With more counters than that (or with weights) rows are counted cluster by cluster after this
// many were assigned: enough rows of a cluster to pay for its counters, not too many for L3.
constexpr int64_t kAssignedBytes = int64_t{1} << 25;
constexpr int64_t kAssignedRowsPerCluster = 256;

// Whether the counts of a chunk are made while its rows are in the cache.
bool counts_in_chunks(const CounterMap& map, int64_t k, bool weighted) {
  return !weighted && map.size() * 4 * k <= kCounterBytes;
}

int64_t most_chunk_rows(const Layout& layout, int64_t k) {
  const int64_t rows =
      std::min(std::max(kChunkBytes / layout.stride, kChunkRowsPerCluster * k), kChunkRowsMost);
  return ceil_div(rows, kMostTileRows) * kMostTileRows;
}

// How many rows are assigned before they are counted, if they are not in chunks.
int64_t assigned_rows(const Layout& layout, int64_t k) {
  return std::min(std::max(kAssignedBytes / layout.stride, kAssignedRowsPerCluster * k),
                  kMostRowsAtOnce);
}

// What one thread has of a tally.
struct Worker {
  Worker(const Plan& plan, int64_t n_counters)
      : scratch(scratch_sizes(plan)),
        counters(counter_bytes(n_counters)),
        cluster_sizes(static_cast<size_t>(n_centers(plan))) {}
  static int64_t counter_bytes(int64_t n_counters) { return 4 * n_counters; }

  ThreadScratch scratch;
  Buffer counters;
  std::vector<int64_t> cluster_sizes;
  std::vector<int32_t> labels;
  RowsByCluster sorted;
  TallySum sum;
};

class TallyPass {
 public:
  TallyPass(const Block& block, const Plan& plan, const CounterMap& map, Ties ties,
            const TallyOut& out, const Threads& threads)
      : kernels_(kernels()),
        block_(block),
        plan_(plan),
        ties_(ties),
        out_(out),
        map_(map),
        k_(n_centers(plan)),
        has_cost_(!std::holds_alternative<ScorePlan>(plan)),
        threads_(useful_threads(block, k_, threads)),
        counting_(counting_threads(block, threads)) {
    in_chunks_ = out.counts && counts_in_chunks(map_, k_, block.weight);
    for (int64_t c = 0; c < k_; ++c) factors_.push_back(label_factor(c));
    for (int t = 0; t < threads_.n; ++t)
      workers_.emplace_back(std::make_unique<Worker>(plan, in_chunks_ ? k_ * map_.size() : 0));
    if (out.counts && !in_chunks_ && !out.labels) {
      own_labels_.resize(static_cast<size_t>(block.n_rows));
      out_.labels = own_labels_.data();
    }
  }

  TallySum run() {
    const int64_t rows = chunk_rows();
    run_tasks(ceil_div(block_.n_rows, rows), threads_,
              [&](int64_t i, int thread, const Stop& stop) {
                chunk(i * rows, std::min(rows, block_.n_rows - i * rows), *workers_[thread], stop);
              });
    if (in_chunks_)
      add_counters();
    else if (out_.counts)
      count_by_cluster(map_, block_, out_.labels, k_, out_.counts, counting_);
    return add_sums();
  }

 private:
  int64_t chunk_rows() const {
    const int64_t rows = std::min(most_chunk_rows(block_.layout, k_),
                                  ceil_div(block_.n_rows, int64_t{2} * threads_.n));
    return std::max<int64_t>(ceil_div(rows, kMostTileRows) * kMostTileRows, kMostTileRows);
  }

  void chunk(int64_t first, int64_t n, Worker& w, const Stop& stop) {
    w.labels.resize(static_cast<size_t>(n));
    int32_t* labels = out_.labels ? out_.labels + first : w.labels.data();
    const int64_t rows = tile_rows(plan_);
    for (int64_t r = 0; r < n; r += rows)
      if (!tile(first + r, std::min(rows, n - r), w, labels + r, stop)) return;
    if (in_chunks_) count_chunk(first, n, labels, w);
  }

  bool tile(int64_t first, int64_t n, Worker& w, int32_t* labels, const Stop& stop) {
    uint32_t own[kMostTileRows];
    uint32_t* distance = out_.distances ? out_.distances + first : own;
    const TileRows rows{block_.rows + first * block_.layout.stride, n};
    if (!find_nearest(plan_, kernels_, rows, ties_, w.scratch.view(), {distance, labels}, stop))
      return false;
    w.sum.fingerprint +=
        kernels_.fingerprint(labels, factors_.data(), k_, n, block_.first_row + first);
    if (block_.weight) {
      for (int64_t r = 0; r < n; ++r) {
        if (has_cost_) w.sum.cost += block_.weight[first + r] * distance[r];
        w.cluster_sizes[labels[r]] += block_.weight[first + r];
      }
    } else {
      if (has_cost_) w.sum.cost += kernels_.sum(distance, n);
      if (out_.cluster_sizes && !in_chunks_)  // else the sort tells
        for (int64_t r = 0; r < n; ++r) ++w.cluster_sizes[labels[r]];
    }
    return true;
  }

  void count_chunk(int64_t first, int64_t n, const int32_t* labels, Worker& w) {
    w.sorted.sort(labels, n, k_);
    for (int64_t c = 0; c < k_; ++c) {
      if (!w.sorted.size(c)) continue;
      w.cluster_sizes[c] += w.sorted.size(c);
      kernels_.count(map_.shape(), block_.rows + first * block_.layout.stride, w.sorted.begin(c),
                     w.sorted.size(c), w.counters.as<uint32_t>() + c * map_.size());
    }
  }

  void add_counters() {
    auto* all = workers_[0]->counters.as<uint32_t>();
    for (size_t t = 1; t < workers_.size(); ++t) {
      const auto* mine = workers_[t]->counters.as<uint32_t>();
      for (int64_t i = 0; i < k_ * map_.size(); ++i) all[i] += mine[i];
    }
    for (int64_t c = 0; c < k_; ++c) {
      int64_t size = 0;
      for (const auto& w : workers_) size += w->cluster_sizes[c];
      map_.add_to_cells(all + c * map_.size(), size, out_.counts + c * n_cells());
    }
  }

  TallySum add_sums() {
    TallySum total;
    for (const auto& w : workers_) {
      total += w->sum;
      if (out_.cluster_sizes)
        for (int64_t c = 0; c < k_; ++c) out_.cluster_sizes[c] += w->cluster_sizes[c];
    }
    return total;
  }

  int64_t n_cells() const { return block_.layout.n_cells(); }

  const Kernels& kernels_;
  const Block& block_;
  const Plan& plan_;
  Ties ties_;
  TallyOut out_;
  const CounterMap& map_;
  int64_t k_;
  bool has_cost_;  // totals of scores lack what is the same in all clusters
  Threads threads_, counting_;
  bool in_chunks_ = false;
  std::vector<uint64_t> factors_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int32_t> own_labels_;
};

}  // namespace

TallySum tally(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
               const TallyOut& out, const Threads& threads) {
  const Plan plan = make_plan(block.layout, centers, block.n_rows, kernels());
  const RowHasher hasher(block);
  const Ties ties{tie_key.has_value(), tie_key.value_or(0), hasher.view()};
  const CounterMap map(block.layout);
  const bool any = !out.counts || counts_in_chunks(map, centers.n, block.weight);
  const int64_t at_once = any ? kMostRowsAtOnce : assigned_rows(block.layout, centers.n);
  TallySum total;
  for (int64_t first = 0; first < block.n_rows; first += at_once) {
    const Block some = block.rows_from(first, std::min(at_once, block.n_rows - first));
    total += TallyPass(some, plan, map, ties, out.rows_from(first), threads).run();
  }
  return total;
}

int64_t tally_bytes(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight,
                    const Threads& threads) {
  const PlanBytes plan = most_plan_bytes(layout, n_centers, feature_weight, kernels());
  const CounterMap map(layout);
  const int64_t chunk = most_chunk_rows(layout, n_centers);
  const int64_t assigned = assigned_rows(layout, n_centers);
  const int64_t worker = plan.per_thread + 8 * n_centers + 4 * chunk;
  int64_t in_chunks = 0;
  if (counts_in_chunks(map, n_centers, false))
    in_chunks = threads.n * (Worker::counter_bytes(n_centers * map.size()) +
                             RowsByCluster::bytes(chunk, n_centers));
  // Rows may have weights: then they are counted by cluster anyway.
  const int64_t by_cluster =
      4 * assigned + count_by_cluster_bytes(map, layout, assigned, n_centers, threads);
  return RowHasher::bytes(layout) + plan.shared + 8 * n_centers + threads.n * worker +
         std::max(in_chunks, by_cluster);
}

}  // namespace softmodes
