// Distances of a tile's rows to centers, as sums of planes, and what is made of them.
//
// Whether rows differ from a value of a feature is a plane; there are as many as centers have
// values, they are made once per tile, and a center is a list of them. Binary features go by
// threes: how many of the three differ is a number of two bits, that is two planes, out of two and
// eight that there can be.
#pragma once

#include "isa/ahead.hpp"
#include "isa/nearest.hpp"
#include "isa/planes/slice.hpp"

namespace softmodes::SOFTMODES_ISA {

struct Offer {
  V lower, equal;  // which rows were nearer to a center than to all before, or as near
};

// What is asked of the distances. Sums of planes are long code, so one copy serves both questions.
struct Question {
  V* lowest;      // distances to beat, as planes; the offers of centers lower them
  Offer* offers;  // one per center; null if not asked for
  Found* found;   // else the end of the list of rows that are nearer to a center than the lowest
};

void compare_planes(const PlaneView& view, const Scratch& scratch, Ahead ahead, Question& question);

// Appends the given rows with their distances, which are n_bits planes, to a list; returns its end.
Found* append_rows(int32_t center, const V* distance, int n_bits, V rows, Found* out);

// Slices the rows of a tile; returns the next ones, to be fetched while these are compared.
inline Ahead start_tile(const PlaneView& view, const TileRows& rows, const Scratch& scratch) {
  const uint8_t* whole = whole_tile(rows, kPlaneRows, view.stride, scratch);
  slice_rows(whole, view.stride, view.feature_bytes, scratch.tile);
  const int64_t bytes = kPlaneRows * view.stride;
  const int64_t steps = view.n_centers * view.n_sets;
  return {rows.bytes + bytes, bytes, (bytes / steps / 64 + 1) * 64};
}

}  // namespace softmodes::SOFTMODES_ISA
