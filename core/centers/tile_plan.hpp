// Centers as tables, to be looked up by the columns of a tile.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "centers/centers.hpp"
#include "isa/kernels.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace softmodes {

using ByValue = std::array<uint64_t, 2>;  // a byte for each value of a nibble

class TilePlan {
 public:
  // A popcount can express neither weights nor a center value that matches nothing.
  static bool suits_popcount(const Layout& layout, const Centers& centers);
  // The most that any centers of that number need, with these feature weights (null: all 1).
  static ScratchSizes most_scratch(const Layout& layout);
  static int64_t most_table_bytes(const Layout& layout, int64_t n_centers,
                                  const uint32_t* feature_weight);

  TilePlan(const Layout& layout, const Centers& centers, const Kernels& kernels);
  int64_t n_centers() const { return view_.n_centers; }
  int64_t tile_rows() const { return kTileRows; }
  ScratchSizes scratch_sizes() const { return scratch_sizes(layout_, view_); }

  bool nearest(const Kernels& kernels, const TileRows& rows, const Ties& ties,
               const Scratch& scratch, Nearest out, const Stop& stop) const {
    for (int64_t first = 0; first < view_.n_centers; first += kGroup) {
      if (stop.requested()) return false;
      kernels.nearest_by_tiles(view_, rows, first, ties, scratch, out);
    }
    return true;
  }
  template <class Visit>
  void distances(const Kernels& kernels, const TileRows& rows, const Scratch& scratch,
                 uint32_t* found, const Visit& visit) const {
    for (int64_t first = 0; first < view_.n_centers; first += kGroup) {
      const int64_t n = std::min<int64_t>(kGroup, view_.n_centers - first);
      kernels.distances_by_tiles(view_, rows, first, n, scratch, found);
      visit(first, n, found);
    }
  }

 private:
  // The shape of the tables follows from the layout and the weights alone.
  TilePlan(const Layout& layout, const uint32_t* feature_weight, int64_t bit_columns);
  static ScratchSizes scratch_sizes(const Layout& layout, const TileView& view);
  int64_t table_bytes(int64_t n_centers) const;

  void add_bits();
  void list_by_nibble(int64_t n_columns);
  std::span<const int32_t> in_nibble(int64_t column) const {
    return {by_nibble_.data() + first_in_nibble_[column],
            by_nibble_.data() + first_in_nibble_[column + 1]};
  }
  void add_nibbles();
  void add_bytes();
  void add_segments(SegmentKind kind, int shift, int64_t first_column, int64_t n_steps,
                    int columns_per_step, int step_bytes, int64_t largest);
  void choose_distance_type();
  void fill_bits(const CodeCenters& centers, uint8_t* quad, int seat, int64_t center) const;
  void fill_nibbles(const CodeCenters& centers, uint8_t* quad, int seat, int64_t center) const;
  ByValue small_mismatches(const CodeCenters& centers, int64_t center, int64_t column) const;
  ByValue same_by_value(const CodeCenters& centers, int64_t center, int64_t j) const;
  void fill_bytes(const CodeCenters& centers, uint8_t* quad, int seat, int64_t center) const;
  uint32_t weight(int64_t feature) const { return feature_weight_ ? feature_weight_[feature] : 1; }

  const Layout& layout_;
  const uint32_t* feature_weight_;
  TileView view_{};
  std::vector<Segment> segments_;
  std::vector<IgnoredBytes> ignored_;
  std::vector<int32_t> by_nibble_;        // features of the nibble columns, one after the other
  std::vector<int32_t> first_in_nibble_;  // by column, where its features begin in that list
  int64_t popcount_table_ = -1;
  std::vector<int64_t> nibble_tables_;             // per digit
  std::vector<std::vector<int64_t>> byte_tables_;  // per size and digit
  Buffer tables_;
  std::vector<int32_t> clusters_;
};

}  // namespace softmodes
