// The kernels that compare by tiles, for one instruction set.
#include "isa/nearest.hpp"
#include "isa/tiles/compare.hpp"
#include "isa/tiles/transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

// Cells of the ignored code were counted as mismatches with every center.
inline void forgive_ignored(const TileView& view, const uint8_t* tile, int64_t n_rows,
                            uint32_t* distance) {
  for (int64_t i = 0; i < view.n_ignored; ++i) {
    const IgnoredBytes& f = view.ignored[i];
    const uint8_t* x = tile + static_cast<int64_t>(f.first_column) * kTileRows;
    for (int64_t r = 0; r < n_rows; ++r) {
      uint32_t code = 0;
      for (int b = 0; b < f.n_bytes; ++b)
        code |= static_cast<uint32_t>(x[b * kTileRows + r]) << (8 * b);
      if (code == f.code) distance[r] -= f.weight;
    }
  }
}

template <class D>
static void group_distances(const TileView& view, const TileRows& rows, int64_t first, int64_t n,
                            const Scratch& scratch, D* out) {
  // The rows that will most likely be next, in steps of whole cache lines.
  const int64_t bytes = kTileRows * view.stride, n_quads = (n + kQuad - 1) / kQuad;
  const bool wanted = first == 0 && view.n_centers >= kManyToCompare;
  const Ahead next{rows.bytes + bytes, wanted ? bytes : 0, (bytes / n_quads / 64 + 1) * 64};
  compare_tile<D>(view, scratch.tile, rows.n, first, n, next, out);
}

// Calls f with a distance of the view's type.
template <class F>
static void with_distance(const TileView& view, const F& f) {
  switch (view.distance_bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    default:
      return f(uint32_t{});
  }
}

static void start_tile(const TileView& view, const TileRows& rows, const Scratch& scratch) {
  transpose_tile(view, whole_tile(rows, kTileRows, view.stride, scratch), rows.n, scratch.tile);
}

void nearest_by_tiles(const TileView& view, const TileRows& rows, int64_t first, const Ties& ties,
                      const Scratch& scratch, Nearest out) {
  if (first == 0) start_tile(view, rows, scratch);
  const int64_t n = view.n_centers - first < kGroup ? view.n_centers - first : kGroup;
  const Ranks ranks{ties, rows.bytes, view.clusters};
  with_distance(view, [&](auto zero) {
    auto* distances = reinterpret_cast<decltype(zero)*>(scratch.distances);
    group_distances(view, rows, first, n, scratch, distances);
    nearest_of_group(distances, first, n, rows.n, ranks, out.distance, out.label);
  });
  if (first + kGroup >= view.n_centers) forgive_ignored(view, scratch.tile, rows.n, out.distance);
}

void distances_by_tiles(const TileView& view, const TileRows& rows, int64_t first, int64_t n,
                        const Scratch& scratch, uint32_t* out) {
  if (first == 0) start_tile(view, rows, scratch);
  with_distance(view, [&](auto zero) {
    auto* distances = reinterpret_cast<decltype(zero)*>(scratch.distances);
    group_distances(view, rows, first, n, scratch, distances);
    for (int64_t i = 0; i < n * kTileRows; ++i) out[i] = distances[i];
  });
  for (int64_t c = 0; c < n; ++c) forgive_ignored(view, scratch.tile, rows.n, out + c * kTileRows);
}

}  // namespace softmodes::SOFTMODES_ISA
