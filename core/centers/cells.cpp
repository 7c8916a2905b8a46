#include "centers/cells.hpp"

#include "centers/score_plan.hpp"

namespace softmodes {

ScoreView totals_view(const Layout& layout, int64_t n_centers, const int32_t* clusters,
                      const Kernels& kernels) {
  ScoreView view{};
  view.n_centers = n_centers;
  view.clusters = clusters;
  view.shape = {layout.stride, 0, 0, false};
  view.whole = true;
  ScorePlan::cut_groups(view, 4, kernels);
  return view;
}

// The totals of a row are where sums of its lines start, and there are none.
void nearest_by_totals(const Kernels& kernels, ScoreView view, const TileRows& rows,
                       const uint32_t* totals, const Ties& ties, const Scratch& scratch,
                       Nearest out) {
  view.n_wide = 0;
  view.by_column = false;
  view.whole = true;
  view.shape.narrow_bytes = view.shape.byte_columns = 0;
  for (int64_t r = 0; r < rows.n; ++r) {
    view.start = totals + r * view.lanes();
    const TileRows row{rows.bytes + r * view.shape.stride, 1};
    for (int64_t group = 0; group < view.n_groups; ++group)
      kernels.nearest_by_scores(view, row, group, ties, scratch, {out.distance + r, out.label + r});
  }
}

}  // namespace softmodes
