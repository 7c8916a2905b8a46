// Few rows, compared cell by cell: tables of all that cells might hold would take longer to make.
#pragma once

#include <algorithm>
#include <cstdint>

#include "isa/kernels.hpp"
#include "layout/layout.hpp"

namespace softmodes {

constexpr uint32_t kNoCluster = 0x7fffffff;  // the total of a lane without one

constexpr int64_t kMostUnpacked = 4096;  // whose codes are unpacked together

// How many features at a time have their part of so many bytes in the cache.
inline int64_t features_in_cache(int64_t bytes, int64_t n_features) {
  constexpr int64_t kInCache = int64_t{1} << 18, kFewest = 16;
  return std::clamp(kInCache * n_features / std::max<int64_t>(bytes, 1), kFewest, kMostUnpacked);
}

// Calls visit(row, first feature, n features, codes) for all cells, those of some features at a
// time: what these are compared with stays in the cache from row to row.
template <class Visit>
void for_each_cells(const Layout& layout, const TileRows& rows, int64_t at_once,
                    const Visit& visit) {
  int32_t codes[kMostUnpacked];
  for (int64_t first = 0; first < layout.n_features; first += at_once) {
    const int64_t n = std::min(at_once, layout.n_features - first);
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
