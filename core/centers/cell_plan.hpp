// Centers of codes for few rows, compared cell by cell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "centers/cells.hpp"
#include "centers/centers.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace softmodes {

class CellPlan {
 public:
  static constexpr int64_t kMostRows = 64;
  static constexpr int64_t kFewestFeatures = 1024;  // of which to make tables takes long
  static bool suits(const Layout& layout, const Centers& centers, int64_t n_rows);

  CellPlan(const Layout& layout, const Centers& centers, const Kernels& kernels);
  int64_t n_centers() const { return view_.n_centers; }
  int64_t tile_rows() const { return kMostRows; }
  ScratchSizes scratch_sizes() const {
    ScratchSizes sizes;
    sizes.distances = 4 * kMostRows * view_.lanes();
    return sizes;
  }

  // False if it was given up.
  bool nearest(const Kernels& kernels, const TileRows& rows, const Ties& ties,
               const Scratch& scratch, Nearest out, const Stop& stop) const {
    if (stop.requested()) return false;
    auto* found = reinterpret_cast<uint32_t*>(scratch.distances);
    fill(rows, kNoCluster, found);
    nearest_by_totals(kernels, view_, rows, found, ties, scratch, out);
    return true;
  }
  template <class Visit>
  void distances(const Kernels&, const TileRows& rows, const Scratch& scratch, uint32_t* found,
                 const Visit& visit) const {
    auto* by_row = reinterpret_cast<uint32_t*>(scratch.distances);
    fill(rows, 0, by_row);
    for (int64_t first = 0; first < n_centers(); first += kGroup) {
      const int64_t n = std::min<int64_t>(kGroup, n_centers() - first);
      for (int64_t r = 0; r < rows.n; ++r)
        for (int64_t c = 0; c < n; ++c)
          found[c * kTileRows + r] = by_row[r * view_.lanes() + first + c];
      visit(first, n, found);
    }
  }

 private:
  // Distances by row and lane; lanes without a center are `other`.
  void fill(const TileRows& rows, uint32_t other, uint32_t* found) const;

  const Layout& layout_;
  CodeCenters centers_;
  std::vector<int32_t> clusters_;
  ScoreView view_;
};

}  // namespace softmodes
