// The kernels that compare by rows, for one instruction set.
#include "isa/nearest.hpp"
#include "isa/rows/compare.hpp"

namespace softmodes::SOFTMODES_ISA {

void distances_by_rows(const RowView& view, const TileRows& rows, const Scratch& scratch,
                       uint32_t* out) {
  const uint8_t* bytes = whole_tile(rows, kTileRows, view.stride, scratch);
  (view.n_centers < kManyInRows ? compare_rows : compare_words)(view, bytes, rows.n, view.n_centers,
                                                                out);
}

void nearest_by_rows(const RowView& view, const TileRows& rows, const Ties& ties,
                     const Scratch& scratch, Nearest out) {
  auto* distances = reinterpret_cast<uint32_t*>(scratch.distances);
  distances_by_rows(view, rows, scratch, distances);
  nearest_of_group(distances, 0, view.n_centers, rows.n, {ties, rows.bytes, view.clusters},
                   out.distance, out.label);
}

}  // namespace softmodes::SOFTMODES_ISA
