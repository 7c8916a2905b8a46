#include "centers/cell_plan.hpp"

namespace softmodes {
namespace {

// A cell differs from a code that none can hold, and an ignored one from nothing.
uint32_t distance(const int32_t* cells, const int32_t* center, const int32_t* ignored,
                  const uint32_t* weight, int64_t n) {
  uint32_t sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const bool differs = (cells[j] != center[j]) & (cells[j] != ignored[j]);
    sum += weight ? (differs ? weight[j] : 0) : differs;
  }
  return sum;
}

}  // namespace

bool CellPlan::suits(const Layout& layout, const Centers& centers, int64_t n_rows) {
  const auto& kind = std::get<CodeCenters>(centers.kind);
  uint64_t largest = 0;
  for (int64_t j = 0; j < layout.n_features; ++j) largest += kind.weight(j);
  return n_rows <= kMostRows && layout.n_features >= kFewestFeatures && largest < kNoCluster;
}

CellPlan::CellPlan(const Layout& layout, const Centers& centers, const Kernels& kernels)
    : layout_(layout),
      centers_(std::get<CodeCenters>(centers.kind)),
      clusters_(centers.clusters),
      view_(totals_view(layout, centers.n, clusters_.data(), kernels)) {}

void CellPlan::fill(const TileRows& rows, uint32_t other, uint32_t* found) const {
  const int64_t k = n_centers(), lanes = view_.lanes();
  for (int64_t r = 0; r < rows.n; ++r) {
    std::fill_n(found + r * lanes, k, 0);
    std::fill_n(found + r * lanes + k, lanes - k, other);
  }
  for_each_cells(layout_, rows, kMostUnpacked,
                 [&](int64_t r, int64_t first, int64_t n, const int32_t* cells) {
                   const uint32_t* weight =
                       centers_.feature_weight ? centers_.feature_weight + first : nullptr;
                   for (int64_t c = 0; c < k; ++c)
                     found[r * lanes + c] += distance(cells, centers_.of(layout_, c) + first,
                                                      layout_.ignored.data() + first, weight, n);
                 });
}

}  // namespace softmodes
