// Few rows, compared cell by cell: tables of all that cells might hold would take longer to make.
#pragma once

#include <algorithm>
#include <cstdint>

#include "isa/kernels.hpp"
#include "layout/layout.hpp"

namespace softmodes {

constexpr uint32_t kNoCluster = 0x7fffffff;  // the total of a lane without one

// Calls visit(row, first feature, n features, codes) for all cells, those of some features at a
// time: what these are compared with stays in the cache from row to row.
template <class Visit>
void for_each_cells(const Layout& layout, const TileRows& rows, const Visit& visit) {
  constexpr int64_t kFeatures = 4096;
  int32_t codes[kFeatures];
  for (int64_t first = 0; first < layout.n_features; first += kFeatures) {
    const int64_t n = std::min(kFeatures, layout.n_features - first);
    for (int64_t r = 0; r < rows.n; ++r) {
      const uint8_t* row = rows.bytes + r * layout.stride;
      for (int64_t j = 0; j < n; ++j) codes[j] = layout.code(row, first + j);
      visit(r, first, n, codes);
    }
  }
}

// How totals of so many centers lie side by side: a view without lines.
ScoreView totals_view(const Layout& layout, int64_t n_centers, const int32_t* clusters,
                      const Kernels& kernels);

// The nearest center of each row by totals that are known: totals[row * lanes + center].
void nearest_by_totals(const Kernels& kernels, ScoreView view, const TileRows& rows,
                       const uint32_t* totals, const Ties& ties, const Scratch& scratch,
                       Nearest out);

}  // namespace softmodes
