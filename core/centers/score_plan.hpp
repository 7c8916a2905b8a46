// Scores as lines: what each value of each column of a row costs in all clusters.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "centers/cells.hpp"
#include "centers/centers.hpp"
#include "centers/coarse_plan.hpp"
#include "centers/fine_plan.hpp"
#include "isa/kernels.hpp"
#include "layout/line_fields.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace softmodes {

// What the total of a row in any cluster exceeds, by less than kMostTotal: only the rest is summed.
class Floor {
 public:
  Floor(const Layout& layout, const Centers& centers);
  // Of one row.
  int64_t of(const uint8_t* row) const;
  // Where a value is among those that have prices of their own.
  int64_t place(int64_t feature, int64_t value) const { return centers_.offsets[feature] + value; }
  uint32_t price(int64_t center, int64_t place) const {
    return centers_.prices[center * centers_.n_prices + place];
  }
  int64_t n_prices() const { return centers_.n_prices; }  // of one cluster
  // What a value costs at least.
  uint32_t least(int64_t place) const { return least_[static_cast<size_t>(place)]; }
  uint32_t least(int64_t feature, int64_t value) const { return least(place(feature, value)); }
  // What it costs above that; not of sparse prices.
  uint32_t above(int64_t center, int64_t feature, int64_t value) const {
    return centers_.of(center, feature)[value] - least(feature, value);
  }
  int64_t n_values(int64_t feature) const {  // that have prices of their own
    return centers_.offsets[feature + 1] - centers_.offsets[feature];
  }
  // By feature: the most that a value costs above the least. 0 for sparse prices.
  const std::vector<uint32_t>& dearest() const { return dearest_; }
  int64_t everywhere() const { return everywhere_; }
  const std::vector<uint32_t>& dearest_usual() const { return dearest_usual_; }

 private:
  void fill_ranges(int64_t n_centers);

  const Layout& layout_;
  const ScoreCenters& centers_;
  std::vector<uint32_t> least_;
  std::vector<uint32_t> dearest_;
  std::vector<uint32_t> dearest_usual_;  // by sparse prices
  std::vector<int32_t> sparse_;          // by feature: which sparse prices, or -1
  int64_t everywhere_;
};

class ScorePlan {
 public:
  static constexpr uint32_t kMostTotal = uint32_t{1} << 30;
  // Prices of so many wide columns do not stay in the cache from one row to the next: they are
  // added column by column, if clusters are few.
  static constexpr int64_t kManyWide = 32, kFewWideLanes = 32;
  // The shape of the lines that so many lanes of so many bytes have.
  static LineShape shape_of(const Layout& layout, int64_t line_bytes);
  // How many lanes of so many bytes are kept for so many centers.
  static int64_t lanes_of(int64_t n_centers, int64_t bytes, const Kernels& kernels);
  // Cuts the lanes of all centers of a view into groups.
  static void cut_groups(ScoreView& view, int64_t bytes, const Kernels& kernels);
  static int64_t most_bytes(const Layout& layout, int64_t n_centers, const Kernels& kernels);

  // For so many rows. Throws std::invalid_argument for prices whose sums do not fit.
  ScorePlan(const Layout& layout, const Centers& centers, int64_t n_rows, const Kernels& kernels);
  int64_t n_centers() const { return view_.n_centers; }
  int64_t tile_rows() const { return kTileRows; }
  ScratchSizes scratch_sizes() const {
    if (by_totals()) return total_scratch();
    if (fine_) return FinePlan::scratch_sizes(view_.n_centers, view_.shape);
    return coarse_ ? CoarsePlan::scratch_sizes(view_.n_centers, view_.lanes(), view_.shape)
                   : ScratchSizes{};
  }
  const ScoreView& view() const { return view_; }
  const Floor& floor() const { return floor_; }
  // Levels that rows are compared with first, if there are any: of one kind or the other.
  const CoarsePlan* coarse() const { return coarse_.get(); }
  const FinePlan* fine() const { return fine_.get(); }
  bool has_levels() const { return coarse_ || fine_; }
  // Rows are so few that there are no lines: prices of their cells are summed.
  bool by_cells() const { return by_cells_; }
  // Whether all totals of some rows are made before the least is looked for.
  bool by_totals() const { return by_cells_ || view_.by_column; }
  // All totals of some rows: totals[row * lanes + cluster].
  void totals(const Kernels& kernels, const TileRows& rows, uint32_t* totals) const {
    kernels.score_totals(view_, rows, totals);
    if (by_cells_) add_cells(rows, totals);
  }

  // False if it was given up.
  bool nearest(const Kernels& kernels, const TileRows& rows, const Ties& ties,
               const Scratch& scratch, Nearest out, const Stop& stop) const {
    if (by_totals()) {
      if (stop.requested()) return false;
      auto* found = reinterpret_cast<uint32_t*>(scratch.distances);
      totals(kernels, rows, found);
      nearest_by_totals(kernels, view_, rows, found, ties, scratch, out);
      return true;
    }
    auto* notes = reinterpret_cast<CoarseNotes*>(scratch.notes);
    if (has_levels() && notes->pays(rows.n)) {
      if (stop.requested()) return false;
      if (fine_) {
        if (kernels.nearest_by_fine(view_, fine_->view(), rows, ties, scratch, out)) return true;
        notes->skip();
        return nearest(kernels, rows, ties, scratch, out, stop);
      }
      notes->add(rows.n,
                 kernels.nearest_by_coarse(view_, coarse_->view(), rows, ties, scratch, out));
      return true;
    }
    for (int64_t group = 0; group < view_.n_groups; ++group) {
      if (stop.requested()) return false;
      kernels.nearest_by_scores(view_, rows, group, ties, scratch, out);
    }
    return true;
  }

 private:
  static bool cells_pay(const Layout& layout, int64_t n_centers, int64_t n_rows,
                        const Kernels& kernels);
  ScratchSizes total_scratch() const {
    ScratchSizes sizes;
    sizes.distances = 4 * kTileRows * view_.lanes();
    return sizes;
  }
  void add_cells(const TileRows& rows, uint32_t* totals) const;
  void fill_start(const ScoreCenters& centers);
  void fill_wide(const ScoreCenters& centers, int64_t n_rows);
  const uint32_t* bonus_lines(const SparsePrices& sparse, int64_t n_values, int64_t n_rows);
  std::vector<LineRun> cut_runs() const;
  void choose_lines(const Kernels& kernels);
  void check_totals() const;
  template <class T>
  void fill_lines(const ScoreCenters& centers);
  template <class T>
  void add_prices(const ScoreCenters& centers, const LineField& field, int64_t g, T* line) const;
  void choose_levels(int resolution, const Kernels& kernels);

  const Layout& layout_;
  Floor floor_;
  bool by_cells_;
  ScoreView view_{};
  std::vector<uint32_t> start_;
  std::vector<LineRun> runs_;
  std::vector<WideColumn> wide_;
  std::vector<std::vector<uint32_t>> wide_prices_;
  std::vector<int32_t> clusters_;
  Buffer lines_;
  std::unique_ptr<CoarsePlan> coarse_;
  std::unique_ptr<FinePlan> fine_;
};

}  // namespace softmodes
