// Many clusters: prices in coarse levels first, by look-up, and exact totals only of clusters that
// may still be the cheapest, or within a row's reach.
//
// A price is unit * level + error. `start` has the lower bound of the errors, so that a total is at
// least unit * (levels + start), and at most that and `slack`.
#include <bit>

#include "isa/scores/share.hpp"
#include "isa/tiles/compare.hpp"
#include "isa/tiles/transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

// Coarse totals of a tile in some clusters: the least, whose it is, and the least of the others.
struct TwoLeast {
  uint16_t least[kTileRows];
  uint16_t next[kTileRows];
  uint16_t center[kTileRows];
};

// `first` is 0 at the first call for a tile. What is found of these centers alone goes to `group`.
static void find_two_least(const CoarseView& view, const uint16_t* levels, int64_t first, int64_t n,
                           int64_t n_rows, TwoLeast& found, TwoLeast& group) {
  using L = Lanes<uint16_t>;
  constexpr int kAtOnce = 2;  // vectors of rows whose least are kept in registers
  const auto none = L::broadcast(-1);
  for (int64_t r = 0; r < n_rows; r += kAtOnce * L::kCount) {
    decltype(L::broadcast(0)) least[kAtOnce], next[kAtOnce], center[kAtOnce];
    for (int v = 0; v < kAtOnce; ++v) {
      least[v] = next[v] = none;
      center[v] = L::broadcast(0);
    }
    const uint16_t* level = levels + r;
    for (int64_t c = first; c < first + n; ++c, level += kTileRows) {
      const auto start = L::broadcast(view.start[c]), number = L::broadcast(c);
      for (int v = 0; v < kAtOnce; ++v) {
        const auto x = L::add(L::load(level + v * L::kCount), start);
        next[v] = L::min(next[v], L::max(x, least[v]));
        const auto lower = L::min(x, least[v]);
        center[v] = L::if_equal(lower, least[v], center[v], number);
        least[v] = lower;
      }
    }
    for (int v = 0; v < kAtOnce; ++v) {
      const int64_t row = r + v * L::kCount;
      L::store(group.least + row, least[v]);
      L::store(group.next + row, next[v]);
      L::store(group.center + row, center[v]);
      if (first) {
        const auto least_so_far = L::load(found.least + row);
        const auto lower = L::min(least[v], least_so_far);
        next[v] =
            L::min(L::min(next[v], L::load(found.next + row)), L::max(least[v], least_so_far));
        center[v] = L::if_equal(lower, least_so_far, L::load(found.center + row), center[v]);
        least[v] = lower;
      }
      L::store(found.least + row, least[v]);
      L::store(found.next + row, next[v]);
      L::store(found.center + row, center[v]);
    }
  }
}

// Calls visit(first center, n, levels) for groups of centers, from rows that are transposed.
template <class Visit>
static void for_each_group(const CoarseView& view, int64_t n_rows, const Scratch& scratch,
                           const Visit& visit) {
  auto* levels = reinterpret_cast<uint16_t*>(scratch.distances);
  for (int64_t first = 0; first < view.tiles.n_centers; first += kGroup) {
    const int64_t n = view.tiles.n_centers - first < kGroup ? view.tiles.n_centers - first : kGroup;
    compare_tile<uint16_t>(view.tiles, scratch.tile, n_rows, first, n, Ahead{}, levels);
    visit(first, n, levels);
  }
}

// A row of which more than one cluster comes into question.
class OpenRow {
 public:
  OpenRow(const CoarseView& view, const uint16_t* lines) : view_(view), lines_(lines) {}
  OpenRow(const CoarseView& view, const uint8_t* row, uint16_t* lines) : OpenRow(view, lines) {
    for (int64_t i = 0; i < view.n_bytes; ++i) {
      lines[2 * i] = static_cast<uint16_t>(32 * i + (row[i] & 15));
      lines[2 * i + 1] = static_cast<uint16_t>(32 * i + 16 + (row[i] >> 4));
    }
  }
  uint32_t total(int64_t center) const {
    return view_.exact_start[center] + sum(view_.exact + center * view_.n_bytes * 32);
  }
  // The largest coarse total of a cluster whose total may be below that of `center` and `window`.
  int64_t limit(int64_t center, uint32_t window) const {
    const int64_t above = int64_t{total(center)} - int64_t{sum(view_.line_least)} + window;
    return above / view_.unit - view_.lowest;
  }

 private:
  template <class T>
  uint32_t sum(const T* prices) const {
    uint32_t even = 0, odd = 0;
    for (int64_t i = 0; i < view_.n_bytes; ++i) {
      even += prices[lines_[2 * i]];
      odd += prices[lines_[2 * i + 1]];
    }
    return even + odd;
  }
  const CoarseView& view_;
  const uint16_t* lines_;
};

void score_group(const ScoreView&, const TileRows&, int64_t group, uint32_t* totals);

// One tile: which rows are settled, and by what; of the others the candidates.
class CoarseTile {
 public:
  CoarseTile(const ScoreView& view, const CoarseView& coarse, uint32_t window, const TileRows& rows,
             const Scratch& scratch)
      : view_(view),
        coarse_(coarse),
        window_(window),
        rows_(rows),
        scratch_(scratch),
        lines_(reinterpret_cast<uint16_t*>(scratch.planes)),
        sorted_(reinterpret_cast<Candidate*>(scratch.offers)) {
    transpose(rows.bytes, rows.n);
    for_each_group(coarse, rows.n, scratch, [&](int64_t first, int64_t n, const uint16_t* levels) {
      find_two_least(coarse, levels, first, n, rows.n, found_, of_group(first));
    });
    find_open();
    if (n_open_) find_candidates();
  }

  int64_t n_open() const { return n_open_; }

  // Calls settled(row, center) or open(row, candidates, n) or many(row, totals), row by row.
  template <class Settled, class Open, class Many>
  void visit(const Settled& settled, const Open& open, const Many& many) {
    int64_t next = 0;
    for (int64_t r = 0; r < rows_.n; ++r) {
      if (next == n_open_ || open_[next] != r) {
        settled(r, static_cast<int32_t>(found_.center[r]));
        continue;
      }
      const int64_t i = next++;
      if (n_candidates_[i] <= coarse_.most_candidates) {
        open(r, sorted_ + i * coarse_.most_candidates, n_candidates_[i]);
        continue;
      }
      many(r, totals(r, limit_[i]));
    }
  }

 private:
  TwoLeast& of_group(int64_t first) const {
    return reinterpret_cast<TwoLeast*>(scratch_.groups)[first / kGroup];
  }
  // Totals of all clusters whose group may hold one that comes into question; the others are dear.
  const uint32_t* totals(int64_t r, uint16_t limit) const {
    const TileRows row{rows_.bytes + r * view_.shape.stride, 1};
    auto* totals = reinterpret_cast<uint32_t*>(scratch_.distances);
    for (int64_t group = 0; group < view_.n_groups; ++group) {
      const int64_t first = group * view_.group;
      const int64_t end =
          first + view_.group < view_.n_centers ? first + view_.group : view_.n_centers;
      bool near = false;
      for (int64_t c = first / kGroup * kGroup; c < end && !near; c += kGroup)
        near = of_group(c).least[r] <= limit;
      if (near)
        score_group(view_, row, group, totals + first);
      else
        for (int64_t c = 0; c < view_.group; ++c) totals[first + c] = kFar;
    }
    return totals;
  }

  void transpose(const uint8_t* bytes, int64_t n) {
    const TileRows rows{bytes, n};
    transpose_tile(coarse_.tiles, whole_tile(rows, kTileRows, coarse_.tiles.stride, scratch_), n,
                   scratch_.tile);
  }
  OpenRow line_up(int64_t row, int64_t i) {
    return {coarse_, rows_.bytes + row * view_.shape.stride, lines_ + i * 2 * coarse_.n_bytes};
  }
  OpenRow lined_up(int64_t i) const { return {coarse_, lines_ + i * 2 * coarse_.n_bytes}; }

  void find_open() {
    const int64_t margin = (coarse_.slack + window_) / coarse_.unit;
    for (int64_t r = 0; r < rows_.n; ++r) {
      if (found_.next[r] - found_.least[r] > margin) continue;
      const OpenRow row = line_up(r, n_open_);
      int64_t limit = row.limit(found_.center[r], window_);
      if (found_.least[r] + margin < limit) limit = found_.least[r] + margin;
      if (limit > 65535) limit = 65535;
      if (found_.next[r] > limit) continue;
      limit_[n_open_] = static_cast<uint16_t>(limit);
      open_[n_open_++] = static_cast<int32_t>(r);
    }
  }

  // With one group, the coarse totals of all rows are still there; else they are found again.
  void find_candidates() {
    for (int64_t i = 0; i < n_open_; ++i) n_candidates_[i] = 0;
    if (coarse_.tiles.n_centers <= kGroup) {
      uint16_t limit[kTileRows] = {};
      int32_t number[kTileRows];
      for (int64_t r = 0; r < rows_.n; ++r) number[r] = -1;
      for (int64_t i = 0; i < n_open_; ++i) {
        limit[open_[i]] = limit_[i];
        number[open_[i]] = static_cast<int32_t>(i);
      }
      list(reinterpret_cast<const uint16_t*>(scratch_.distances), 0, coarse_.tiles.n_centers,
           rows_.n, limit, number);
      return;
    }
    if (n_open_ <= kFewOpen) {
      for (int64_t i = 0; i < n_open_; ++i) list_by_group(i);
      return;
    }
    const int64_t stride = view_.shape.stride;
    for (int64_t i = 0; i < n_open_; ++i)
      std::memcpy(scratch_.rows + i * stride, rows_.bytes + open_[i] * stride,
                  static_cast<size_t>(stride));
    transpose_tile(coarse_.tiles, scratch_.rows, n_open_, scratch_.tile);
    int32_t number[kTileRows];
    for (int32_t i = 0; i < n_open_; ++i) number[i] = i;
    for_each_group(coarse_, n_open_, scratch_,
                   [&](int64_t first, int64_t n, const uint16_t* levels) {
                     list(levels, first, n, n_open_, limit_, number);
                   });
  }

  // Adds the clusters of an open row that are known: one of each group, if no other of it comes
  // into question; else they are too many, and totals of such groups are summed.
  void list_by_group(int64_t i) {
    const int32_t row = open_[i];
    for (int64_t first = 0; first < coarse_.tiles.n_centers; first += kGroup) {
      const TwoLeast& group = of_group(first);
      if (group.least[row] > limit_[i]) continue;
      if (group.next[row] <= limit_[i]) {
        n_candidates_[i] = static_cast<int32_t>(coarse_.most_candidates + 1);
        return;
      }
      add(static_cast<int32_t>(i), group.center[row]);
    }
  }

  // Adds clusters whose coarse totals are within the limits of rows; number: of open rows, or -1.
  void list(const uint16_t* levels, int64_t first, int64_t n, int64_t n_rows, const uint16_t* limit,
            const int32_t* number) {
    using L = Lanes<uint16_t>;
    for (int64_t c = 0; c < n; ++c) {
      const auto start = L::broadcast(coarse_.start[first + c]);
      const uint16_t* level = levels + c * kTileRows;
      for (int64_t r = 0; r < n_rows; r += L::kCount) {
        const auto some = L::add(L::load(level + r), start);
        uint64_t bits = L::equal_bits(L::min(some, L::load(limit + r)), some);
        for (; bits; bits &= bits - 1) {
          const int64_t row = r + std::countr_zero(bits);
          if (row < n_rows && number[row] >= 0) add(number[row], first + c);
        }
      }
    }
  }
  void add(int32_t i, int64_t center) {
    const int32_t n = n_candidates_[i]++;
    if (n < coarse_.most_candidates)
      sorted_[i * coarse_.most_candidates + n] = {static_cast<int32_t>(center),
                                                  lined_up(i).total(center)};
  }

  static constexpr int64_t kFewOpen = 32;  // for which to sum totals by group is faster
  static constexpr uint32_t kFar = 0x7fffffff;

  const ScoreView& view_;
  const CoarseView& coarse_;
  uint32_t window_;
  const TileRows& rows_;
  const Scratch& scratch_;
  uint16_t* lines_;
  Candidate* sorted_;  // by open row, most_candidates each
  TwoLeast found_;
  int64_t n_open_ = 0;
  int32_t open_[kTileRows];
  alignas(64) uint16_t limit_[kTileRows + 64] = {};
  int32_t n_candidates_[kTileRows];
};

int64_t nearest_by_coarse(const ScoreView& view, const CoarseView& coarse, const TileRows& rows,
                          const Ties& ties, const Scratch& scratch, Nearest out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  CoarseTile tile(view, coarse, 0, rows, scratch);
  tile.visit([&](int64_t r, int32_t center) { out.label[r] = center; },
             [&](int64_t r, const Candidate* candidates, int64_t n) {
               out.label[r] = cheapest(ranks, r, candidates, n);
             },
             [&](int64_t r, const uint32_t* totals) {
               const auto least = Wide::broadcast(least_total<Wide>(totals, view.lanes()));
               BestRank best(ranks, r);
               visit_lanes<Wide>(
                   totals, view.lanes(), [&](auto x) { return Wide::equal_bits(x, least); },
                   [&](int64_t lane) { best.offer(lane); });
               out.label[r] = best.best();
             });
  return tile.n_open();
}

int64_t share_by_coarse(const ScoreView& view, const CoarseView& coarse, const Powers& powers,
                        const TileRows& rows, const Ties& ties, const Scratch& scratch,
                        const Shares& out) {
  const Ranks ranks{ties, rows.bytes, view.clusters};
  Sharing sharing(powers, ranks, out);
  CoarseTile tile(view, coarse, powers.limit, rows, scratch);
  tile.visit(
      [&](int64_t r, int32_t center) { sharing.alone(r, center); },
      [&](int64_t r, const Candidate* candidates, int64_t n) {
        sharing.candidates(r, candidates, n);
      },
      [&](int64_t r, const uint32_t* totals) { sharing.dense<Wide>(r, totals, view.lanes()); });
  return tile.n_open();
}

}  // namespace softmodes::SOFTMODES_ISA
