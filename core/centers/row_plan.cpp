#include "centers/row_plan.hpp"

#include "centers/tile_plan.hpp"

namespace softmodes {

bool RowPlan::may_suit(const Layout& layout, int64_t n_centers, const Kernels& kernels) {
  return n_centers <= kernels.few_centers && layout.bit_bytes >= kernels.long_row &&
         layout.feature_bytes() == layout.bit_bytes;
}

bool RowPlan::suits(const Layout& layout, const Centers& centers, const Kernels& kernels) {
  return may_suit(layout, centers.n, kernels) && TilePlan::suits_popcount(layout, centers);
}

ScratchSizes RowPlan::scratch_sizes(const Layout& layout) {
  ScratchSizes sizes;
  sizes.rows = kTileRows * layout.stride;
  sizes.distances = int64_t{kGroup} * kTileRows * 4;
  return sizes;
}

RowPlan::RowPlan(const Layout& layout, const Centers& centers)
    : scratch_sizes_(scratch_sizes(layout)),
      center_rows_(table_bytes(layout, centers.n)),
      clusters_(centers.clusters) {
  const auto& kind = std::get<CodeCenters>(centers.kind);
  for (int64_t c = 0; c < centers.n; ++c)
    for (int64_t j = 0; j < layout.n_features; ++j)
      center_rows_.data()[c * layout.stride + layout.byte[j]] |=
          static_cast<uint8_t>(kind.code(layout, c, j) << layout.shift[j]);
  view_ = {centers.n, layout.stride, center_rows_.data(), clusters_.data()};
}

}  // namespace softmodes
