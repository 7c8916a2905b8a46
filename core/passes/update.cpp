// A tally brought up to date after some centers have changed.
//
// A row whose center has stayed is nearer to it than to all others that stayed: it need only be
// compared with the changed ones. So need a row whose center has changed, if it is now as near to
// some changed center as it was to its own. The rest, mostly few, are compared with all.
#include <memory>

#include "hashing.hpp"
#include "layout/row_hasher.hpp"
#include "passes/cluster_counts.hpp"
#include "passes/pass.hpp"
#include "passes/passes.hpp"

namespace softmodes {
namespace {

struct Move {
  int32_t row;
  int32_t from;
};

// What one thread has of an update.
struct Updater {
  Updater(const Plan& changed, const Plan& all, int64_t stride)
      : changed_scratch(scratch_sizes(changed)),
        all_scratch(scratch_sizes(all)),
        gathered(gathered_bytes(tile_rows(all), stride)) {}
  static int64_t gathered_bytes(int64_t tile_rows, int64_t stride) { return tile_rows * stride; }

  ThreadScratch changed_scratch, all_scratch;
  Buffer gathered;
  std::vector<int32_t> open;  // rows to be compared with all centers
  std::vector<Move> moves;
  int64_t cost = 0;
};

class UpdatePass {
 public:
  UpdatePass(const Block& block, const Plan& changed, const std::vector<int32_t>& clusters,
             const Plan& all, Ties ties, const TallyOut& kept, const Threads& threads)
      : kernels_(kernels()),
        block_(block),
        changed_(changed),
        clusters_(clusters),
        all_(all),
        k_(n_centers(all)),
        ties_(ties),
        kept_(kept),
        threads_(threads),
        has_changed_(static_cast<size_t>(k_)) {
    for (const int32_t cluster : clusters_) has_changed_[cluster] = 1;
    for (int t = 0; t < threads_.n; ++t)
      workers_.push_back(std::make_unique<Updater>(changed, all, block.layout.stride));
  }

  TallySum run() {
    run_tasks(ceil_div(block_.n_rows, kTaskRows), threads_,
              [&](int64_t i, int thread, const Stop& stop) {
                const int64_t end = std::min(block_.n_rows, (i + 1) * kTaskRows);
                const int64_t rows = tile_rows(changed_);
                for (int64_t r = i * kTaskRows; r < end; r += rows)
                  if (!tile(r, std::min(rows, end - r), *workers_[thread], stop)) return;
              });
    TallySum sum;
    std::vector<Move> moves;
    run_tasks(1, threads_, [&](int64_t, int, const Stop& stop) {  // too few for several threads
      for (auto& w : workers_)
        if (!w->open.empty()) compare_with_all(*w, stop);
    });
    for (auto& w : workers_) {
      sum.cost += w->cost;
      moves.insert(moves.end(), w->moves.begin(), w->moves.end());
    }
    count_moves(moves);
    for (const Move& move : moves)
      sum.fingerprint += row_factor(block_.first_row + move.row) *
                         (label_factor(kept_.labels[move.row]) - label_factor(move.from));
    return sum;
  }

 private:
  // False if it was given up.
  bool tile(int64_t first, int64_t n, Updater& w, const Stop& stop) {
    uint32_t distance[kMostTileRows];
    int32_t nearest[kMostTileRows];
    const TileRows packed{block_.rows + first * block_.layout.stride, n};
    if (!find_nearest(changed_, kernels_, packed, ties_, w.changed_scratch.view(),
                      {distance, nearest}, stop))
      return false;
    int32_t rows[kMostTileRows];
    const int64_t n_touched = list_touched(first, n, distance, rows);
    const int64_t n_nearer = split_open(first, distance, nearest, rows, n_touched, w);
    const auto found = [&](int64_t i) {
      const int64_t r = rows[i] - first;
      return std::pair(clusters_[nearest[r]], distance[r]);
    };
    settle(rows, n_nearer, found, w);
    while (static_cast<int64_t>(w.open.size()) >= tile_rows(all_))
      if (!compare_with_all(w, stop)) return false;
    return true;
  }

  // What follows makes lists without branches, which would go either way.

  // Rows that the changed centers may matter to.
  int64_t list_touched(int64_t first, int64_t n, const uint32_t* distance, int32_t* rows) const {
    int64_t m = 0;
    for (int64_t r = 0; r < n; ++r) {
      rows[m] = static_cast<int32_t>(first + r);
      m += (distance[r] <= kept_.distances[first + r]) | has_changed_[kept_.labels[first + r]];
    }
    return m;
  }

  // Leaves those that are nearer to a changed center than before; others that have lost theirs go
  // to w.open.
  int64_t split_open(int64_t first, const uint32_t* distance, const int32_t* nearest, int32_t* rows,
                     int64_t n, Updater& w) const {
    const size_t n_open = w.open.size();
    w.open.resize(n_open + static_cast<size_t>(n));
    int32_t* open = w.open.data() + n_open;
    int64_t n_nearer = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t row = rows[i], label = kept_.labels[row];
      const uint32_t d = distance[row - first], before = kept_.distances[row];
      bool nearer = d < before;
      if (d == before) nearer = wins(row, clusters_[nearest[row - first]], label);
      rows[n_nearer] = row;
      n_nearer += nearer;
      *open = row;
      open += (nearer ? 0 : 1) & has_changed_[label];
    }
    w.open.resize(static_cast<size_t>(open - w.open.data()));
    return n_nearer;
  }

  // Whether a tie between two clusters does not go to the second.
  bool wins(int64_t row, int32_t a, int32_t b) const {
    if (!ties_.by_hash) return a <= b;
    const uint8_t* bytes = block_.rows + row * block_.layout.stride;
    const uint64_t key = fold(ties_.key, hash_row(ties_.hash, bytes));
    return fold(key, static_cast<uint64_t>(a)) <= fold(key, static_cast<uint64_t>(b));
  }

  // The last rows that are open, as many as a tile holds. False if it was given up.
  bool compare_with_all(Updater& w, const Stop& stop) {
    uint32_t distance[kMostTileRows];
    int32_t nearest[kMostTileRows];
    const int64_t n = std::min(tile_rows(all_), static_cast<int64_t>(w.open.size()));
    const int64_t stride = block_.layout.stride;
    const int32_t* rows = w.open.data() + w.open.size() - n;
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(block_.rows + rows[i] * stride, stride, w.gathered.data() + i * stride);
    if (!find_nearest(all_, kernels_, {w.gathered.data(), n}, ties_, w.all_scratch.view(),
                      {distance, nearest}, stop))
      return false;
    settle(rows, n, [&](int64_t i) { return std::pair(nearest[i], distance[i]); }, w);
    w.open.resize(w.open.size() - static_cast<size_t>(n));
    return true;
  }

  // Gives rows to clusters; found(i) is the cluster of rows[i], and its distance.
  template <class Find>
  void settle(const int32_t* rows, int64_t n, const Find& found, Updater& w) {
    const size_t n_moves = w.moves.size();
    w.moves.resize(n_moves + static_cast<size_t>(n));
    Move* move = w.moves.data() + n_moves;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t row = rows[i];
      const auto [cluster, distance] = found(i);
      const int64_t weight = block_.weight ? block_.weight[row] : 1;
      w.cost += weight * (int64_t{distance} - int64_t{kept_.distances[row]});
      kept_.distances[row] = distance;
      *move = {row, kept_.labels[row]};
      move += kept_.labels[row] != cluster;
      kept_.labels[row] = cluster;
    }
    w.moves.resize(static_cast<size_t>(move - w.moves.data()));
  }

  void count_moves(const std::vector<Move>& moves) {
    std::vector<int32_t> from, to;
    for (const Move& move : moves) {
      from.push_back(move.from);
      to.push_back(kept_.labels[move.row]);
    }
    RowsByCluster leaving, joining;
    leaving.sort(from.data(), static_cast<int64_t>(moves.size()), k_);
    joining.sort(to.data(), static_cast<int64_t>(moves.size()), k_);
    const CounterMap map(block_.layout);
    run_tasks(k_, threads_, [&](int64_t c, int, const Stop&) {
      add_rows(moves, leaving, c, map, -1);
      add_rows(moves, joining, c, map, 1);
    });
  }

  void add_rows(const std::vector<Move>& moves, const RowsByCluster& sorted, int64_t c,
                const CounterMap& map, int sign) const {
    if (!sorted.size(c)) return;
    std::vector<int32_t> rows;
    int64_t size = 0;
    for (int64_t i = 0; i < sorted.size(c); ++i) {
      rows.push_back(moves[sorted.begin(c)[i]].row);
      size += block_.weight ? block_.weight[rows.back()] : 1;
    }
    std::vector<int64_t> cells(static_cast<size_t>(block_.layout.n_cells()));
    count_rows(map, block_, rows.data(), sorted.size(c), cells.data());
    int64_t* mine = kept_.counts + c * block_.layout.n_cells();
    for (size_t i = 0; i < cells.size(); ++i) mine[i] += sign * cells[i];
    kept_.cluster_sizes[c] += sign * size;
  }

  const Kernels& kernels_;
  const Block& block_;
  const Plan& changed_;
  const std::vector<int32_t>& clusters_;  // those that have changed
  const Plan& all_;
  int64_t k_;
  Ties ties_;
  TallyOut kept_;
  Threads threads_;
  std::vector<uint8_t> has_changed_;
  std::vector<std::unique_ptr<Updater>> workers_;
};

}  // namespace

TallySum update(const Block& block, const Centers& centers, const std::vector<int32_t>& changed,
                std::optional<uint64_t> tie_key, const TallyOut& kept, const Threads& threads) {
  TallySum total;
  if (changed.empty()) return total;
  const ChosenCenters chosen(block.layout, centers, changed);
  const Plan some = make_plan(block.layout, chosen.view(), block.n_rows, kernels());
  const Plan all = make_plan(block.layout, centers, block.n_rows, kernels());
  const RowHasher hasher(block);
  const Ties ties{tie_key.has_value(), tie_key.value_or(0), hasher.view()};
  for (int64_t first = 0; first < block.n_rows; first += kMostRowsAtOnce) {
    const Block rows = block.rows_from(first, std::min(kMostRowsAtOnce, block.n_rows - first));
    total += UpdatePass(rows, some, changed, all, ties, kept.rows_from(first),
                        useful_threads(rows, chosen.view().n, threads))
                 .run();
  }
  return total;
}

int64_t update_bytes(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight,
                     const Threads& threads) {
  const PlanBytes plan = most_plan_bytes(layout, n_centers, feature_weight, kernels());
  const int64_t chosen = 4 * n_centers * layout.n_features;
  const int64_t worker = 2 * plan.per_thread +
                         Updater::gathered_bytes(kMostTileRows, layout.stride) +
                         8 * layout.n_cells() + count_rows_bytes(CounterMap(layout));
  return RowHasher::bytes(layout) + 2 * plan.shared + chosen + threads.n * worker;
}

}  // namespace softmodes
