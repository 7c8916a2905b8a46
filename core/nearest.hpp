// The nearest center of every row of a tile. Included by kernels.cpp only.
#pragma once

#include "compare.hpp"
#include "hashing.hpp"
#include "transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

// The lowest distance in a group of centers, the first center that has it, and whether others do.
template <class D>
struct Lowest {
  D distance[kTileRows];
  D center[kTileRows];
  D tied[kTileRows];
};

template <class D>
inline void find_lowest(const D* distances, int64_t n_centers, Lowest<D>& low) {
  for (int r = 0; r < kTileRows; ++r) {
    low.distance[r] = distances[r];
    low.center[r] = low.tied[r] = 0;
  }
  for (int64_t c = 1; c < n_centers; ++c) {
    const D* d = distances + c * kTileRows;
    for (int r = 0; r < kTileRows; ++r) {
      const bool less = d[r] < low.distance[r];
      const bool same = d[r] == low.distance[r];
      low.tied[r] = static_cast<D>(less ? 0 : (low.tied[r] | same));
      low.center[r] = less ? static_cast<D>(c) : low.center[r];
      low.distance[r] = less ? d[r] : low.distance[r];
    }
  }
}

// Among centers tied inside a group, takes the one of the smallest rank for every marked row.
template <class D>
inline void settle_ties(const D* distances, int64_t first, int64_t n_centers, const uint64_t* row_key,
                        const uint8_t* rows, int n, Lowest<D>& low) {
  uint64_t best[kTileRows];
  for (int i = 0; i < n; ++i) best[i] = ~uint64_t{0};
  for (int64_t c = 0; c < n_centers; ++c) {
    const D* d = distances + c * kTileRows;
    for (int i = 0; i < n; ++i) {
      const int r = rows[i];
      if (d[r] != low.distance[r]) continue;
      const uint64_t rank = fold(row_key[r], static_cast<uint64_t>(first + c));
      if (rank < best[i]) {
        best[i] = rank;
        low.center[r] = static_cast<D>(c);
      }
    }
  }
}

// Merges a group's lowest into the result so far.
template <class D>
inline void merge_group(const D* distances, int64_t first, int64_t n_centers, int64_t n_rows,
                        Ties ties, const uint64_t* row_key, Lowest<D>& low, uint32_t* distance,
                        int32_t* label) {
  if (ties.by_hash) {
    uint8_t rows[kTileRows];
    int n = 0;
    for (int64_t r = 0; r < n_rows; ++r)
      if (low.tied[r] && (first == 0 || low.distance[r] <= distance[r]))
        rows[n++] = static_cast<uint8_t>(r);
    if (n) settle_ties(distances, first, n_centers, row_key, rows, n, low);
  }
  for (int64_t r = 0; r < n_rows; ++r) {
    const uint32_t d = low.distance[r];
    const auto center = static_cast<int32_t>(first + low.center[r]);
    if (first == 0 || d < distance[r]) {
      distance[r] = d;
      label[r] = center;
    } else if (ties.by_hash && d == distance[r] &&
               fold(row_key[r], static_cast<uint64_t>(center)) <
                   fold(row_key[r], static_cast<uint64_t>(label[r]))) {
      label[r] = center;
    }
  }
}

// Cells of the ignored code were counted as mismatches with every center.
inline void forgive_ignored(const Plan& plan, const uint8_t* tile, int64_t n_rows,
                            uint32_t* distance) {
  for (int64_t i = 0; i < plan.n_ignored; ++i) {
    const IgnoredWide& f = plan.ignored[i];
    const uint8_t* x = tile + static_cast<int64_t>(f.first_column) * kTileRows;
    for (int64_t r = 0; r < n_rows; ++r) {
      uint32_t code = 0;
      for (int b = 0; b < f.n_bytes; ++b)
        code |= static_cast<uint32_t>(x[b * kTileRows + r]) << (8 * b);
      if (code == f.code) distance[r] -= f.weight;
    }
  }
}

// Rows of a tile that is not full are copied, so that whole vectors can be read.
inline const uint8_t* whole_tile(const Plan& plan, const uint8_t* rows, int64_t n_rows,
                                 const TileScratch& scratch) {
  if (n_rows == kTileRows) return rows;
  std::memcpy(scratch.rows, rows, static_cast<size_t>(n_rows * plan.stride));
  return scratch.rows;
}

template <class D>
inline void group_distances(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t first,
                            int64_t n, const TileScratch& scratch, D* out) {
  (void)rows;
  compare_tile<D>(plan, scratch.tile, n_rows, first, n, out);
}

template <class D>
inline void nearest_as(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t first,
                       const uint64_t* row_key, Ties ties, const TileScratch& scratch,
                       uint32_t* distance, int32_t* label) {
  Lowest<D> low;
  D* distances = reinterpret_cast<D*>(scratch.distances);
  const int64_t n = plan.n_centers - first < kGroup ? plan.n_centers - first : kGroup;
  group_distances<D>(plan, rows, n_rows, first, n, scratch, distances);
  find_lowest(distances, n, low);
  merge_group(distances, first, n, n_rows, ties, row_key, low, distance, label);
}

inline void nearest(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t first,
                    int64_t global_row, Ties ties, const TileScratch& scratch, uint32_t* distance,
                    int32_t* label) {
  uint64_t key[kTileRows];
  if (ties.by_hash)
    for (int64_t r = 0; r < n_rows; ++r)
      key[r] = fold(ties.key, static_cast<uint64_t>(global_row + r));
  if (first == 0)
    transpose_tile(plan, whole_tile(plan, rows, n_rows, scratch), n_rows, scratch.tile);
  switch (plan.distance_bytes) {
    case 1:
      nearest_as<uint8_t>(plan, rows, n_rows, first, key, ties, scratch, distance, label);
      break;
    case 2:
      nearest_as<uint16_t>(plan, rows, n_rows, first, key, ties, scratch, distance, label);
      break;
    default:
      nearest_as<uint32_t>(plan, rows, n_rows, first, key, ties, scratch, distance, label);
  }
  if (first + kGroup >= plan.n_centers) forgive_ignored(plan, scratch.tile, n_rows, distance);
}

template <class D>
inline void distances_as(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t first,
                         int64_t n, const TileScratch& scratch, uint32_t* out) {
  D* distances = reinterpret_cast<D*>(scratch.distances);
  group_distances<D>(plan, rows, n_rows, first, n, scratch, distances);
  for (int64_t i = 0; i < n * kTileRows; ++i) out[i] = distances[i];
}

inline void distances(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t first,
                      int64_t n, const TileScratch& scratch, uint32_t* out) {
  if (first == 0)
    transpose_tile(plan, whole_tile(plan, rows, n_rows, scratch), n_rows, scratch.tile);
  switch (plan.distance_bytes) {
    case 1: distances_as<uint8_t>(plan, rows, n_rows, first, n, scratch, out); break;
    case 2: distances_as<uint16_t>(plan, rows, n_rows, first, n, scratch, out); break;
    default: distances_as<uint32_t>(plan, rows, n_rows, first, n, scratch, out);
  }
  for (int64_t c = 0; c < n; ++c)
    forgive_ignored(plan, scratch.tile, n_rows, out + c * kTileRows);
}

}  // namespace softmodes::SOFTMODES_ISA
