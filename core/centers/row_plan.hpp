// Few centers of binary features, compared along the packed rows.
#pragma once

#include "centers/centers.hpp"
#include "isa/kernels.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace softmodes {

class RowPlan {
 public:
  static bool suits(const Layout& layout, const Centers& centers, const Kernels& kernels);
  // Whether centers with a value for every feature would be compared so.
  static bool may_suit(const Layout& layout, int64_t n_centers, const Kernels& kernels);
  static ScratchSizes scratch_sizes(const Layout& layout);
  static int64_t table_bytes(const Layout& layout, int64_t n_centers) {
    return n_centers * layout.stride;
  }

  RowPlan(const Layout& layout, const Centers& centers);
  int64_t n_centers() const { return view_.n_centers; }
  int64_t tile_rows() const { return kTileRows; }
  ScratchSizes scratch_sizes() const { return scratch_sizes_; }

  // False if it was given up.
  bool nearest(const Kernels& kernels, const TileRows& rows, const Ties& ties,
               const Scratch& scratch, Nearest out, const Stop& stop) const {
    if (stop.requested()) return false;
    kernels.nearest_by_rows(view_, rows, ties, scratch, out);
    return true;
  }
  // Calls visit(first center, n centers, distances) for all centers, some at a time; distances are
  // [center * kTileRows + row].
  template <class Visit>
  void distances(const Kernels& kernels, const TileRows& rows, const Scratch& scratch,
                 uint32_t* found, const Visit& visit) const {
    kernels.distances_by_rows(view_, rows, scratch, found);
    visit(0, view_.n_centers, found);
  }

 private:
  RowView view_{};
  ScratchSizes scratch_sizes_;
  Buffer center_rows_;
  std::vector<int32_t> clusters_;
};

}  // namespace softmodes
