// Rows shared among clusters, some at a time: what passes by scores have in common.
#pragma once

#include <algorithm>
#include <vector>

#include "centers/score_plan.hpp"
#include "isa/kernels.hpp"
#include "layout/layout.hpp"

namespace softmodes {

// What one thread needs to share rows.
class Sharer {
 public:
  static constexpr int64_t kTotals = int64_t{1} << 17;  // that stay in the cache
  static constexpr int64_t kRowsOfColumns = 2048;       // where wide columns are added by column
  static int64_t rows_at_once(int64_t lanes, bool by_column) {
    return std::clamp<int64_t>(kTotals / lanes, 8, by_column ? kRowsOfColumns : 128);
  }
  static int64_t bytes(const Layout& layout, int64_t lanes) {
    const LineShape shape = ScorePlan::shape_of(layout, kTotals);
    const int64_t fine =
        FinePlan::scratch_sizes(std::min(lanes, FinePlan::kMostCenters + 64), shape).total();
    return rows_at_once(lanes, false) * 4 * lanes + kTileRows * (8 * lanes + 12) +
           (layout.sparse_features.empty()
                ? 0
                : kRowsOfColumns * (12 * ScorePlan::kFewWideLanes + 12)) +
           std::max(CoarsePlan::scratch_sizes(lanes, lanes, shape).total(), fine);
  }

  explicit Sharer(const ScorePlan& plan)
      : plan_(plan),
        rows_(rows_at_once(plan.view().lanes(), plan.view().by_column)),
        totals_(4 * rows_ * plan.view().lanes()),
        scratch_(plan.scratch_sizes()),
        cluster_(static_cast<size_t>(most_rows() * plan.view().lanes() + kSharedAtOnce)),
        part_(cluster_.size()),
        n_(static_cast<size_t>(most_rows())),
        least_(n_.size()),
        log_(n_.size()) {}

  // Calls visit(first row, n rows, shares, totals) for rows first .. first + n of a block. By
  // levels there are no totals, and no least of rows that belong to one cluster alone.
  template <class Visit>
  void share(const Kernels& kernels, const Powers& powers, const Block& block, int64_t first,
             int64_t n, const Ties& ties, bool by_levels, const Visit& visit) {
    const Shares out{least_.data(), log_.data(), n_.data(), cluster_.data(), part_.data()};
    const Scratch scratch = scratch_.view();
    auto* notes = reinterpret_cast<CoarseNotes*>(scratch.notes);
    auto* totals = totals_.as<uint32_t>();
    by_levels = by_levels && plan_.has_levels();
    for (int64_t r = 0; r < n;) {
      const bool levels = by_levels && notes->pays(std::min(rows_, n - r));
      const TileRows rows{block.rows + (first + r) * block.layout.stride,
                          std::min(levels ? int64_t{kTileRows} : rows_, n - r)};
      if (levels && plan_.fine()) {
        if (!kernels.share_by_fine(plan_.view(), plan_.fine()->view(), powers, rows, ties, scratch,
                                   out)) {
          notes->skip();
          continue;
        }
      } else if (levels) {
        notes->add(rows.n, kernels.share_by_coarse(plan_.view(), plan_.coarse()->view(), powers,
                                                   rows, ties, scratch, out));
      } else {
        plan_.totals(kernels, rows, totals);
        kernels.share(plan_.view(), powers, rows, ties, totals, out);
      }
      visit(first + r, rows.n, out, totals);
      r += rows.n;
    }
  }

  // The same by all totals, which become parts: visit gets them, and of shares `least` and `log`.
  template <class Visit>
  void share_in_place(const Kernels& kernels, const Powers& powers, const Block& block,
                      int64_t first, int64_t n, const Ties& ties, const Visit& visit) {
    const Shares out{least_.data(), log_.data(), n_.data(), cluster_.data(), part_.data()};
    auto* totals = totals_.as<uint32_t>();
    for (int64_t r = 0; r < n; r += rows_) {
      const TileRows rows{block.rows + (first + r) * block.layout.stride, std::min(rows_, n - r)};
      plan_.totals(kernels, rows, totals);
      kernels.share_in_place(plan_.view(), powers, rows, ties, totals, out);
      visit(first + r, rows.n, out, totals);
    }
  }

 private:
  int64_t most_rows() const { return plan_.has_levels() ? int64_t{kTileRows} : rows_; }

  const ScorePlan& plan_;
  int64_t rows_;
  Buffer totals_;
  ThreadScratch scratch_;
  std::vector<int32_t> cluster_;
  std::vector<uint32_t> part_;
  std::vector<int32_t> n_;
  std::vector<uint32_t> least_, log_;
};

}  // namespace softmodes
