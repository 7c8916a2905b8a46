#include "rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "counters.hpp"
#include "hashing.hpp"
#include "pass.hpp"

namespace softmodes {
namespace {

constexpr int64_t kChunkBytes = int64_t{1} << 19;  // rows to assign and then count while in L2
constexpr int64_t kChunkRowsPerCluster = 64;       // fewer would not pay for the counters
constexpr int64_t kChunkRowsMost = int64_t{1} << 17;
constexpr int64_t kCounterBytes = int64_t{1} << 20;  // counters of all clusters that stay in L2

// With more counters than that (or with weights) rows are counted cluster by cluster after this
// many were assigned: enough rows of a cluster to pay for its counters, not too many for L3.
constexpr int64_t kRangeBytes = int64_t{1} << 25;
constexpr int64_t kRangeRowsPerCluster = 256;

bool counts_in_chunks(const Block& block, const Counters& counters, int64_t n_clusters) {
  return !block.weight && counters.size() * 4 * n_clusters <= kCounterBytes;
}

// Rows of one cluster for one thread to count; no two have the same cells.
struct Share {
  int64_t cluster;
  const int32_t* rows;
  int64_t n_rows;
  int64_t* cells;
};

// One thread's share of a tally.
struct Worker {
  Worker(const CenterPlan& plan, int64_t counter_words)
      : tile(plan),
        counters(counter_words * 4),
        sizes(static_cast<size_t>(plan.view().n_centers)) {}
  Tile tile;
  Buffer counters;
  std::vector<int64_t> sizes;
  std::vector<int32_t> labels;
  ByCluster sorted;
  TallySum sum;
};

class TallyPass {
 public:
  TallyPass(const Block& block, const CenterPlan& plan, const Counters& counters, Ties ties,
            const TallyOut& out, int n_threads)
      : kernels_(kernels()),
        block_(block),
        plan_(plan),
        ties_(ties),
        out_(out),
        counters_(counters),
        k_(plan.view().n_centers),
        n_threads_(n_threads) {
    in_chunks_ = out.counts && counts_in_chunks(block, counters_, k_);
    for (int64_t c = 0; c < k_; ++c) factors_.push_back(label_factor(c));
    for (int t = 0; t < n_threads; ++t)
      workers_.emplace_back(std::make_unique<Worker>(plan, in_chunks_ ? k_ * counters_.size() : 0));
    if (out.counts && !in_chunks_ && !out.labels) {
      kept_labels_.resize(static_cast<size_t>(block.n_rows));
      out_.labels = kept_labels_.data();
    }
  }

  TallySum run(const Interrupted& interrupted) {
    const int64_t rows = chunk_rows();
    const bool finished = run_tasks(ceil_div(block_.n_rows, rows), n_threads_, interrupted,
                                    [&](int64_t i, int thread, const Stop& stop) {
                                      chunk(i * rows, std::min(rows, block_.n_rows - i * rows),
                                            *workers_[thread], stop);
                                    });
    if (!finished) throw Interrupt{};
    if (in_chunks_)
      add_counters();
    else if (out_.counts && !count_by_cluster(interrupted))
      throw Interrupt{};
    return add_sums();
  }

 private:
  int64_t chunk_rows() const {
    int64_t rows = std::max(kChunkBytes / block_.layout.stride, kChunkRowsPerCluster * k_);
    rows = std::min(rows, kChunkRowsMost);
    rows = std::min(rows, ceil_div(block_.n_rows, int64_t{2} * n_threads_));
    return std::max<int64_t>(ceil_div(rows, kMostTileRows) * kMostTileRows, kMostTileRows);
  }

  void chunk(int64_t first, int64_t n, Worker& w, const Stop& stop) {
    w.labels.resize(static_cast<size_t>(n));
    int32_t* labels = out_.labels ? out_.labels + first : w.labels.data();
    const int64_t tile_rows = plan_.view().tile_rows;
    for (int64_t r = 0; r < n; r += tile_rows) {
      const int64_t in_tile = std::min(tile_rows, n - r);
      if (!tile(first + r, in_tile, w, labels + r, stop)) return;
    }
    if (in_chunks_) count_chunk(first, n, labels, w);
  }

  bool tile(int64_t first, int64_t n, Worker& w, int32_t* labels, const Stop& stop) {
    uint32_t own[kMostTileRows];
    uint32_t* distance = out_.distances ? out_.distances + first : own;
    const uint8_t* rows = block_.rows + first * block_.layout.stride;
    for (int64_t center = 0; center < k_; center += plan_.view().group) {
      if (stop.requested()) return false;
      kernels_.nearest(plan_.view(), rows, n, center, block_.first_row + first, ties_,
                       w.tile.view(), distance, labels);
    }
    w.sum.fingerprint +=
        kernels_.fingerprint(labels, factors_.data(), k_, n, block_.first_row + first);
    if (block_.weight) {
      for (int64_t r = 0; r < n; ++r) {
        w.sum.cost += block_.weight[first + r] * distance[r];
        w.sizes[labels[r]] += block_.weight[first + r];
      }
    } else {
      w.sum.cost += kernels_.sum(distance, n);
      if (out_.sizes && !in_chunks_)  // else the sort tells
        for (int64_t r = 0; r < n; ++r) ++w.sizes[labels[r]];
    }
    return true;
  }

  void count_chunk(int64_t first, int64_t n, const int32_t* labels, Worker& w) {
    w.sorted.sort(labels, n, k_);
    for (int64_t c = 0; c < k_; ++c) {
      if (!w.sorted.size(c)) continue;
      w.sizes[c] += w.sorted.size(c);
      kernels_.count(counters_.shape(), block_.rows + first * block_.layout.stride,
                     w.sorted.begin(c), w.sorted.size(c),
                     w.counters.as<uint32_t>() + c * counters_.size());
    }
  }

  void add_counters() {
    auto* all = workers_[0]->counters.as<uint32_t>();
    for (size_t t = 1; t < workers_.size(); ++t) {
      const auto* mine = workers_[t]->counters.as<uint32_t>();
      for (int64_t i = 0; i < k_ * counters_.size(); ++i) all[i] += mine[i];
    }
    for (int64_t c = 0; c < k_; ++c) {
      int64_t size = 0;
      for (const auto& w : workers_) size += w->sizes[c];
      counters_.add_to_cells(all + c * counters_.size(), size, out_.counts + c * n_cells());
    }
  }

  bool count_by_cluster(const Interrupted& interrupted) {
    ByCluster sorted;
    sorted.sort(out_.labels, block_.n_rows, k_);
    // A large cluster is shared among threads; all but its first share count apart.
    const int64_t most = n_threads_ == 1 ? block_.n_rows : ceil_div(block_.n_rows, 4 * n_threads_);
    std::vector<Share> shares;
    std::vector<std::vector<int64_t>> apart;
    for (int64_t c = 0; c < k_; ++c)
      for (int64_t first = 0; first < sorted.size(c); first += most) {
        int64_t* cells = out_.counts + c * n_cells();
        if (first) cells = apart.emplace_back(static_cast<size_t>(n_cells())).data();
        shares.push_back(
            {c, sorted.begin(c) + first, std::min(most, sorted.size(c) - first), cells});
      }
    const auto count = [&](int64_t i, int, const Stop&) {
      count_rows(counters_, block_, shares[i].rows, shares[i].n_rows, shares[i].cells);
    };
    if (!run_tasks(static_cast<int64_t>(shares.size()), n_threads_, interrupted, count))
      return false;
    for (const Share& share : shares) {
      int64_t* cells = out_.counts + share.cluster * n_cells();
      if (share.cells == cells) continue;
      for (int64_t i = 0; i < n_cells(); ++i) cells[i] += share.cells[i];
    }
    return true;
  }

  TallySum add_sums() {
    TallySum total;
    for (const auto& w : workers_) {
      total.cost += w->sum.cost;
      total.fingerprint += w->sum.fingerprint;
      if (out_.sizes)
        for (int64_t c = 0; c < k_; ++c) out_.sizes[c] += w->sizes[c];
    }
    return total;
  }

  int64_t n_cells() const { return block_.layout.n_cells(); }

  const Kernels& kernels_;
  const Block& block_;
  const CenterPlan& plan_;
  Ties ties_;
  TallyOut out_;
  const Counters& counters_;
  int64_t k_;
  int n_threads_;
  bool in_chunks_ = false;
  std::vector<uint64_t> factors_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int32_t> kept_labels_;
};

// Runs visit(first row, n rows, center, distances) for every tile and center; kTaskRows rows are
// one thread's.
template <class Visit>
void for_each_distance(const Block& block, const Centers& centers, const Run& run,
                       const Visit& visit) {
  const Kernels& isa = kernels();
  const CenterPlan plan(block.layout, centers, isa, CenterPlan::Use::distances);
  const int n_threads = useful_threads(block, centers.n, run.n_threads);
  std::vector<std::unique_ptr<Tile>> tiles;
  std::vector<std::vector<uint32_t>> found;
  for (int t = 0; t < n_threads; ++t) {
    tiles.push_back(std::make_unique<Tile>(plan));
    found.emplace_back(std::min<int64_t>(centers.n, kGroup) * kTileRows);
  }
  constexpr int64_t rows = kTaskRows;
  static_assert(rows % kTileRows == 0);
  const auto task = [&](int64_t i, int thread, const Stop& stop) {
    const int64_t end = std::min(block.n_rows, (i + 1) * rows);
    for (int64_t r = i * rows; r < end && !stop.requested(); r += kTileRows) {
      const int64_t n = std::min<int64_t>(kTileRows, end - r);
      for (int64_t first = 0; first < centers.n; first += kGroup) {
        const int64_t n_centers = std::min<int64_t>(kGroup, centers.n - first);
        isa.distances(plan.view(), block.rows + r * block.layout.stride, n, first, n_centers,
                      tiles[thread]->view(), found[thread].data());
        for (int64_t c = 0; c < n_centers; ++c)
          visit(r, n, first + c, found[thread].data() + c * kTileRows);
      }
    }
  };
  if (!run_tasks(ceil_div(block.n_rows, rows), n_threads, run.interrupted, task)) throw Interrupt{};
}

// How many rows are assigned before they are counted; any number if they are in each chunk.
int64_t rows_of_range(const Block& block, const Counters& counters, int64_t n_clusters,
                      const TallyOut& out) {
  if (!out.counts || counts_in_chunks(block, counters, n_clusters)) return kRangeRows;
  const int64_t rows =
      std::max(kRangeBytes / block.layout.stride, kRangeRowsPerCluster * n_clusters);
  return std::min(rows, kRangeRows);
}

}  // namespace

TallySum tally(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
               const TallyOut& out, const Run& run) {
  const CenterPlan plan(block.layout, centers, kernels(), CenterPlan::Use::nearest);
  const Ties ties{tie_key.has_value(), tie_key.value_or(0)};
  const Counters counters(block.layout);
  const int64_t range_rows = rows_of_range(block, counters, centers.n, out);
  TallySum total;
  for (int64_t first = 0; first < block.n_rows; first += range_rows) {
    const Block range = part(block, first, std::min(range_rows, block.n_rows - first));
    const TallyOut range_out{out.counts, out.sizes, out.labels ? out.labels + first : nullptr,
                             out.distances ? out.distances + first : nullptr};
    const int n_threads = useful_threads(range, centers.n, run.n_threads);
    const TallySum sum =
        TallyPass(range, plan, counters, ties, range_out, n_threads).run(run.interrupted);
    total.cost += sum.cost;
    total.fingerprint += sum.fingerprint;
  }
  return total;
}

void distances(const Block& block, const Centers& centers, uint32_t* out, const Run& run) {
  for_each_distance(block, centers, run,
                    [&](int64_t row, int64_t n, int64_t center, const uint32_t* found) {
                      for (int64_t r = 0; r < n; ++r)
                        out[(row + r) * centers.n + center] = found[r];
                    });
}

template <class D>
void candidate_totals(const Block& block, const Centers& centers, const D* current, D* out,
                      int64_t* totals, const Run& run) {
  const auto lower = [] {
    if constexpr (sizeof(D) == 2)
      return kernels().lower16;
    else
      return kernels().lower32;
  }();
  for_each_distance(block, centers, run,
                    [&](int64_t row, int64_t n, int64_t center, const uint32_t* found) {
                      totals[row / kTaskRows * centers.n + center] +=
                          lower(found, current + row, block.weight ? block.weight + row : nullptr,
                                n, out + center * block.n_rows + row);
                    });
}

template void candidate_totals(const Block&, const Centers&, const uint16_t*, uint16_t*, int64_t*,
                               const Run&);
template void candidate_totals(const Block&, const Centers&, const uint32_t*, uint32_t*, int64_t*,
                               const Run&);

namespace {

using FoundRows = std::vector<std::vector<Found>>;  // per kTaskRows rows, numbered from 0 in each

template <class D>
void find_by_planes(const Block& block, const CenterPlan& plan, const D* current, const Run& run,
                    FoundRows& found) {
  const Kernels& isa = kernels();
  const int64_t tile_rows = plan.view().tile_rows;
  const int n_threads = useful_threads(block, plan.view().n_centers, run.n_threads);
  std::vector<std::unique_ptr<Tile>> tiles;
  std::vector<std::vector<Found>> in_tile;
  for (int t = 0; t < n_threads; ++t) {
    tiles.push_back(std::make_unique<Tile>(plan));
    in_tile.emplace_back(static_cast<size_t>(plan.view().n_centers * tile_rows));
  }
  const auto task = [&](int64_t i, int thread, const Stop& stop) {
    uint32_t before[kMostTileRows];
    const int64_t begin = i * kTaskRows, end = std::min(block.n_rows, begin + kTaskRows);
    for (int64_t r = begin; r < end && !stop.requested(); r += tile_rows) {
      const int64_t n = std::min(tile_rows, end - r);
      std::copy_n(current + r, n, before);
      Found* first = in_tile[thread].data();
      Found* last = first + isa.nearer(plan.view(), block.rows + r * block.layout.stride, n, before,
                                       tiles[thread]->view(), first);
      for (Found* f = first; f != last; ++f) f->row += static_cast<int32_t>(r - begin);
      found[i].insert(found[i].end(), first, last);
    }
  };
  if (!run_tasks(ceil_div(block.n_rows, kTaskRows), n_threads, run.interrupted, task))
    throw Interrupt{};
}

template <class D>
void find_by_distances(const Block& block, const Centers& centers, const D* current, const Run& run,
                       FoundRows& found) {
  for_each_distance(
      block, centers, run, [&](int64_t row, int64_t n, int64_t center, const uint32_t* distances) {
        auto& mine = found[row / kTaskRows];
        for (int64_t r = 0; r < n; ++r)
          if (distances[r] < current[row + r])
            mine.push_back({static_cast<int32_t>(center),
                            static_cast<int32_t>((row + r) % kTaskRows), distances[r]});
      });
}

// By center; within one, tasks and tiles keep the rows in order. What has been moved is freed.
template <class D>
NearerRows<D> by_center(FoundRows& found, int64_t n_centers) {
  NearerRows<D> out;
  out.start.resize(static_cast<size_t>(n_centers) + 1);
  for (const auto& task : found)
    for (const Found& f : task) ++out.start[f.center + 1];
  for (int64_t c = 0; c < n_centers; ++c) out.start[c + 1] += out.start[c];
  out.rows.resize(static_cast<size_t>(out.start.back()));
  out.distances.resize(out.rows.size());
  std::vector<int64_t> next(out.start.begin(), out.start.end() - 1);
  for (size_t i = 0; i < found.size(); ++i) {
    for (const Found& f : std::exchange(found[i], {})) {
      const int64_t at = next[f.center]++;
      out.rows[at] = static_cast<int64_t>(i) * kTaskRows + f.row;
      out.distances[at] = static_cast<D>(f.distance);
    }
  }
  return out;
}

}  // namespace

template <class D>
NearerRows<D> nearer(const Block& block, const Centers& centers, const D* current, const Run& run) {
  FoundRows found(static_cast<size_t>(ceil_div(block.n_rows, kTaskRows)));
  const CenterPlan plan(block.layout, centers, kernels(), CenterPlan::Use::nearer);
  if (plan.view().sliced)
    find_by_planes(block, plan, current, run, found);
  else
    find_by_distances(block, centers, current, run, found);
  return by_center<D>(found, centers.n);
}

template NearerRows<uint16_t> nearer(const Block&, const Centers&, const uint16_t*, const Run&);
template NearerRows<uint32_t> nearer(const Block&, const Centers&, const uint32_t*, const Run&);

SparseCounts wide_counts(const Block& block, int64_t feature, const int32_t* labels, int64_t k) {
  std::vector<int64_t> start(static_cast<size_t>(k) + 2);
  for (int64_t i = 0; i < block.n_rows; ++i) ++start[labels[i] + 2];
  for (int64_t c = 2; c <= k + 1; ++c) start[c] += start[c - 1];
  struct Cell {
    int32_t code;
    int64_t weight;
  };
  std::vector<Cell> cells(static_cast<size_t>(block.n_rows));
  for (int64_t i = 0; i < block.n_rows; ++i)
    cells[start[labels[i] + 1]++] = {
        block.layout.code(block.rows + i * block.layout.stride, feature),
        block.weight ? block.weight[i] : 1};

  SparseCounts sparse;
  sparse.indptr.push_back(0);
  std::vector<int64_t> count(static_cast<size_t>(block.layout.n_codes[feature]));
  std::vector<uint8_t> seen(count.size());
  std::vector<int32_t> codes;
  for (int64_t c = 0; c < k; ++c) {
    codes.clear();
    for (int64_t i = start[c]; i < start[c + 1]; ++i) {
      const Cell& cell = cells[i];
      if (!seen[cell.code]) codes.push_back(cell.code);
      seen[cell.code] = 1;
      count[cell.code] += cell.weight;
    }
    std::sort(codes.begin(), codes.end());
    for (int32_t code : codes) {
      sparse.codes.push_back(code);
      sparse.counts.push_back(count[code]);
      count[code] = seen[code] = 0;
    }
    sparse.indptr.push_back(static_cast<int64_t>(sparse.codes.size()));
  }
  return sparse;
}

void unpack(const Block& block, const int64_t* rows, int64_t n, int32_t* out) {
  const Layout& layout = block.layout;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* row = block.rows + rows[i] * layout.stride;
    for (int64_t j = 0; j < layout.n_features; ++j)
      out[i * layout.n_features + j] = layout.code(row, j);
  }
}

}  // namespace softmodes
