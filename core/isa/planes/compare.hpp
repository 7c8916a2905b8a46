// Distances of a tile's rows to centers, as sums of planes.
//
// Whether rows differ from a value of a feature is a plane; there are as many as centers have
// values, they are made once per tile, and a center is a list of them. Binary features go by
// threes: how many of the three differ is a number of two bits, that is two planes, out of two and
// eight that there can be.
#pragma once

#include <type_traits>

#include "isa/ahead.hpp"
#include "isa/nearest.hpp"
#include "isa/planes/number.hpp"
#include "isa/planes/values.hpp"

namespace softmodes::SOFTMODES_ISA {

// Calls visit(center, distance) for all centers.
template <int kBits, class Visit>
inline void compare_planes(const PlaneView& view, const Scratch& scratch, Ahead ahead,
                           const Visit& visit) {
  for (int64_t first = 0; first < view.n_centers; first += kPlaneGroup) {
    const int64_t left = view.n_centers - first, n = left < kPlaneGroup ? left : kPlaneGroup;
    for (int64_t i = 0; i < view.n_sets; ++i) {
      const PlaneSet& set = view.sets[i];
      make_planes(view, set, scratch.tile, scratch.planes);
      const uint16_t* addends = set.addends + first * set.n_addends();
      for (int64_t c = 0; c < n; ++c, addends += set.n_addends()) {
        uint8_t* kept = scratch.distances + c * kBits * kWidth;
        Number<kBits> distance;
        ahead.step();
        if (i) distance.read(kept);
        add_set(set, i == 0, scratch.planes, addends, distance);
        if (i + 1 == view.n_sets)
          visit(first + c, distance);
        else
          distance.write(kept);
      }
    }
  }
}

// Calls f with the view's number of bits, as a constant.
template <class F>
inline auto with_bits(const PlaneView& view, const F& f) {
  switch (view.distance_bits) {
    case 7:
      return f(std::integral_constant<int, 7>());
    case 8:
      return f(std::integral_constant<int, 8>());
    case 10:
      return f(std::integral_constant<int, 10>());
    case 12:
      return f(std::integral_constant<int, 12>());
    default:
      return f(std::integral_constant<int, kMostDistanceBits>());
  }
}

// Slices the rows of a tile; returns the next ones, to be fetched while these are compared.
inline Ahead start_tile(const PlaneView& view, const TileRows& rows, const Scratch& scratch) {
  const uint8_t* whole = whole_tile(rows, kPlaneRows, view.stride, scratch);
  slice_rows(whole, view.stride, view.feature_bytes, scratch.tile);
  const int64_t bytes = kPlaneRows * view.stride;
  const int64_t steps = view.n_centers * view.n_sets;
  return {rows.bytes + bytes, bytes, (bytes / steps / 64 + 1) * 64};
}

}  // namespace softmodes::SOFTMODES_ISA
