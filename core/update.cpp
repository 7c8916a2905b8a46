// A tally brought up to date after some centers have changed.
//
// A row whose center has stayed is nearer to it than to all others that stayed: it need only be
// compared with the changed ones. So need a row whose center has changed, if it is now as near to
// some changed center as it was to its own. The rest, mostly few, are compared with all.
#include <memory>

#include "counters.hpp"
#include "hashing.hpp"
#include "pass.hpp"
#include "rows.hpp"

namespace softmodes {
namespace {

struct Move {
  int32_t row;
  int32_t from;
};

// One thread's share.
struct Updater {
  Updater(const CenterPlan& changed, const CenterPlan& all)
      : changed_tile(changed), all_tile(all), gathered(all.view().tile_rows * all.view().stride) {}
  Tile changed_tile, all_tile;
  Buffer gathered;
  std::vector<int32_t> open;  // rows to be compared with all centers
  std::vector<Move> moves;
  int64_t cost = 0;
};

class UpdatePass {
 public:
  UpdatePass(const Block& block, const CenterPlan& changed, const CenterPlan& all, Ties ties,
             const KeptTally& kept, int n_threads)
      : kernels_(kernels()),
        block_(block),
        changed_(changed.view()),
        all_(all.view()),
        ties_(ties),
        kept_(kept),
        n_threads_(n_threads),
        has_changed_(static_cast<size_t>(all_.n_centers)) {
    for (int64_t i = 0; i < changed_.n_centers; ++i) has_changed_[changed_.clusters[i]] = 1;
    for (int t = 0; t < n_threads; ++t) workers_.push_back(std::make_unique<Updater>(changed, all));
  }

  TallySum run(const Interrupted& interrupted) {
    const bool finished =
        run_tasks(ceil_div(block_.n_rows, kTaskRows), n_threads_, interrupted,
                  [&](int64_t i, int thread, const Stop& stop) {
                    const int64_t end = std::min(block_.n_rows, (i + 1) * kTaskRows);
                    const int64_t rows = changed_.tile_rows;
                    for (int64_t r = i * kTaskRows; r < end && !stop.requested(); r += rows)
                      tile(r, std::min(rows, end - r), *workers_[thread]);
                  });
    if (!finished) throw Interrupt{};
    TallySum sum;
    std::vector<Move> moves;
    for (auto& w : workers_) {
      if (!w->open.empty()) compare_with_all(*w);
      sum.cost += w->cost;
      moves.insert(moves.end(), w->moves.begin(), w->moves.end());
    }
    if (!count_moves(moves, interrupted)) throw Interrupt{};
    for (const Move& move : moves)
      sum.fingerprint += row_factor(block_.first_row + move.row) *
                         (label_factor(kept_.labels[move.row]) - label_factor(move.from));
    return sum;
  }

 private:
  void tile(int64_t first, int64_t n, Updater& w) {
    uint32_t distance[kMostTileRows];
    int32_t nearest[kMostTileRows];
    for (int64_t c = 0; c < changed_.n_centers; c += changed_.group)
      kernels_.nearest(changed_, block_.rows + first * block_.layout.stride, n, c,
                       block_.first_row + first, ties_, w.changed_tile.view(), distance, nearest);
    int32_t rows[kMostTileRows];
    const int64_t n_touched = list_touched(first, n, distance, rows);
    const int64_t n_nearer = split_open(first, distance, nearest, rows, n_touched, w);
    const auto found = [&](int64_t i) {
      const int64_t r = rows[i] - first;
      return std::pair(changed_.clusters[nearest[r]], distance[r]);
    };
    settle(rows, n_nearer, found, w);
    while (static_cast<int64_t>(w.open.size()) >= all_.tile_rows) compare_with_all(w);
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
      if (d == before) nearer = wins(row, changed_.clusters[nearest[row - first]], label);
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
    const uint64_t key = fold(ties_.key, static_cast<uint64_t>(block_.first_row + row));
    return fold(key, static_cast<uint64_t>(a)) <= fold(key, static_cast<uint64_t>(b));
  }

  // The last rows that are open, as many as a tile holds.
  void compare_with_all(Updater& w) {
    uint32_t distance[kMostTileRows];
    int32_t nearest[kMostTileRows];
    int64_t numbers[kMostTileRows];
    const int64_t n = std::min(all_.tile_rows, static_cast<int64_t>(w.open.size()));
    const int64_t stride = block_.layout.stride;
    const int32_t* rows = w.open.data() + w.open.size() - n;
    for (int64_t i = 0; i < n; ++i) {
      numbers[i] = block_.first_row + rows[i];
      std::copy_n(block_.rows + rows[i] * stride, stride, w.gathered.data() + i * stride);
    }
    const Ties ties{ties_.by_hash, ties_.key, numbers};
    for (int64_t c = 0; c < all_.n_centers; c += all_.group)
      kernels_.nearest(all_, w.gathered.data(), n, c, 0, ties, w.all_tile.view(), distance,
                       nearest);
    settle(rows, n, [&](int64_t i) { return std::pair(nearest[i], distance[i]); }, w);
    w.open.resize(w.open.size() - static_cast<size_t>(n));
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

  bool count_moves(const std::vector<Move>& moves, const Interrupted& interrupted) {
    std::vector<int32_t> from, to;
    for (const Move& move : moves) {
      from.push_back(move.from);
      to.push_back(kept_.labels[move.row]);
    }
    ByCluster leaving, joining;
    leaving.sort(from.data(), static_cast<int64_t>(moves.size()), all_.n_centers);
    joining.sort(to.data(), static_cast<int64_t>(moves.size()), all_.n_centers);
    const Counters counters(block_.layout);
    return run_tasks(all_.n_centers, n_threads_, interrupted, [&](int64_t c, int, const Stop&) {
      add_rows(moves, leaving, c, counters, -1);
      add_rows(moves, joining, c, counters, 1);
    });
  }

  void add_rows(const std::vector<Move>& moves, const ByCluster& sorted, int64_t c,
                const Counters& counters, int sign) const {
    if (!sorted.size(c)) return;
    std::vector<int32_t> rows;
    int64_t size = 0;
    for (int64_t i = 0; i < sorted.size(c); ++i) {
      rows.push_back(moves[sorted.begin(c)[i]].row);
      size += block_.weight ? block_.weight[rows.back()] : 1;
    }
    std::vector<int64_t> cells(static_cast<size_t>(block_.layout.n_cells()));
    count_rows(counters, block_, rows.data(), sorted.size(c), cells.data());
    int64_t* mine = kept_.counts + c * block_.layout.n_cells();
    for (size_t i = 0; i < cells.size(); ++i) mine[i] += sign * cells[i];
    kept_.sizes[c] += sign * size;
  }

  const Kernels& kernels_;
  const Block& block_;
  const Plan& changed_;
  const Plan& all_;
  Ties ties_;
  KeptTally kept_;
  int n_threads_;
  std::vector<uint8_t> has_changed_;
  std::vector<std::unique_ptr<Updater>> workers_;
};

}  // namespace

TallySum update(const Block& block, const Centers& centers, const std::vector<int32_t>& changed,
                std::optional<uint64_t> tie_key, const KeptTally& kept, const Run& run) {
  TallySum total;
  if (changed.empty()) return total;
  const int64_t d = block.layout.n_features;
  std::vector<int32_t> codes;
  for (int32_t c : changed)
    codes.insert(codes.end(), centers.codes + c * d, centers.codes + (c + 1) * d);
  const CenterPlan some(
      block.layout,
      {codes.data(), static_cast<int64_t>(changed.size()), centers.feature_weight, changed.data()},
      kernels(), CenterPlan::Use::nearest);
  const CenterPlan all(block.layout, centers, kernels(), CenterPlan::Use::nearest);
  const Ties ties{tie_key.has_value(), tie_key.value_or(0)};
  for (int64_t first = 0; first < block.n_rows; first += kRangeRows) {
    const Block range = part(block, first, std::min(kRangeRows, block.n_rows - first));
    const KeptTally range_kept{kept.counts, kept.sizes, kept.labels + first,
                               kept.distances + first};
    const int n_threads =
        useful_threads(range, static_cast<int64_t>(changed.size()), run.n_threads);
    const TallySum sum =
        UpdatePass(range, some, all, ties, range_kept, n_threads).run(run.interrupted);
    total.cost += sum.cost;
    total.fingerprint += sum.fingerprint;
  }
  return total;
}

}  // namespace softmodes
