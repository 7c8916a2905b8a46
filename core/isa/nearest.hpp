// The nearest center of every row of a tile, from distances; ties.
#pragma once

#include <bit>

#include "hashing.hpp"
#include "isa/kernels.hpp"
#include "isa/simd/isa.hpp"

namespace softmodes::SOFTMODES_ISA {

// The lowest distance in a group of centers, the first and last center that have it, and whether
// they are two.
template <class D>
struct Lowest {
  D distance[kTileRows];
  D center[kTileRows];
  D last[kTileRows];
  uint64_t tied[kTileRows / 64];  // a bit per row
};

template <class D>
inline void find_lowest(const D* distances, int64_t n_centers, int64_t n_rows, Lowest<D>& low) {
  using L = Lanes<D>;
  constexpr int kAtOnce = 2;
  for (auto& bits : low.tied) bits = 0;
  for (int64_t r = 0; r < n_rows; r += kAtOnce * L::kCount) {
    auto zero = L::broadcast(0);
    decltype(zero) lowest[kAtOnce], first[kAtOnce], last[kAtOnce];
    for (int v = 0; v < kAtOnce; ++v) {
      lowest[v] = L::load(distances + r + v * L::kCount);
      first[v] = last[v] = zero;
    }
    for (int64_t c = 1; c < n_centers; ++c) {
      const auto center = L::broadcast(c);
      for (int v = 0; v < kAtOnce; ++v) {
        const auto d = L::load(distances + c * kTileRows + r + v * L::kCount);
        const auto lower = L::min(d, lowest[v]);
        first[v] = L::if_equal(lower, lowest[v], first[v], center);
        last[v] = L::if_equal(lower, d, center, last[v]);
        lowest[v] = lower;
      }
    }
    for (int v = 0; v < kAtOnce; ++v) {
      const int64_t row = r + v * L::kCount;
      L::store(low.distance + row, lowest[v]);
      L::store(low.center + row, first[v]);
      L::store(low.last + row, last[v]);
      const uint64_t all = ~uint64_t{0} >> (64 - L::kCount);
      low.tied[row / 64] |= (L::equal_bits(first[v], last[v]) ^ all) << (row % 64);
    }
  }
}

// Order among tied centers: the smallest rank wins.
struct Ranks {
  const Ties& ties;
  const uint8_t* rows;
  const int32_t* clusters;
  uint64_t row_hash(int64_t r) const { return hash_row(ties.hash, rows + r * ties.hash.stride); }
  uint64_t row_key(int64_t r) const { return fold(ties.key, row_hash(r)); }
  uint64_t of(uint64_t row_key, int64_t center) const {
    return fold(row_key, static_cast<uint64_t>(clusters[center]));
  }
};

// Which of 64 rows are as near to a center as to the nearest.
template <class D>
inline uint64_t nearest_bits(const D* distances, const D* lowest) {
  using L = Lanes<D>;
  uint64_t bits = 0;
  for (int i = 0; i < 64; i += L::kCount)
    bits |= L::equal_bits(L::load(distances + i), L::load(lowest + i)) << i;
  return bits;
}

// Writes the numbers of the set bits, from `first` on, and returns how many they are.
inline int64_t list_bits(uint64_t bits, int32_t first, int32_t* out) {
  int64_t n = 0;
  for (; bits; bits &= bits - 1) out[n++] = first + std::countr_zero(bits);
  return n;
}

constexpr int64_t kFewOffers = 8;

// Which of 64 rows are as near to three centers or more as to the nearest.
template <class D>
inline uint64_t tied_thrice(const D* distances, int64_t n_centers, const D* lowest) {
  uint64_t once = 0, twice = 0, thrice = 0;
  for (int64_t c = 0; c < n_centers; ++c) {
    const uint64_t bits = nearest_bits(distances + c * kTileRows, lowest);
    thrice |= twice & bits;
    twice |= once & bits;
    once |= bits;
  }
  return thrice;
}

// Takes, for 64 rows of which `rows` are marked, the tied center of the smallest rank.
template <class D>
inline void settle_ties(const D* distances, int64_t first, int64_t n_centers, int64_t row,
                        uint64_t rows, const Ranks& ranks, Lowest<D>& low) {
  const auto row_hash = [&](int64_t i) { return ranks.row_hash(row + i); };
  // Among many centers most ties are of two, the first and the last.
  const uint64_t many = n_centers > kFewOffers
                            ? rows & tied_thrice(distances + row, n_centers, low.distance + row)
                            : rows;
  int32_t pairs[64];
  const int64_t n_pairs = list_bits(rows & ~many, 0, pairs);
  settle_pairs(pairs, n_pairs, ranks.ties.key, row_hash, ranks.clusters + first, low.last + row,
               low.center + row);
  if (!many) return;
  TieBreaker ties(many, ranks.ties.key, row_hash);
  for (int64_t c = 0; c < n_centers; ++c)
    ties.offer(nearest_bits(distances + c * kTileRows + row, low.distance + row),
               ranks.clusters[first + c], static_cast<int>(c));
  ties.write(low.center + row);
}

// Merges a later group's lowest into the result so far.
template <class D>
inline void merge_group(const Lowest<D>& low, int64_t first, int64_t n_rows, const Ranks& ranks,
                        uint32_t* distance, int32_t* label) {
  for (int64_t r = 0; r < n_rows; ++r) {
    const uint32_t d = low.distance[r];
    const auto center = static_cast<int32_t>(first + low.center[r]);
    if (d < distance[r]) {
      distance[r] = d;
      label[r] = center;
    } else if (d == distance[r] && ranks.ties.by_hash) {
      const uint64_t key = ranks.row_key(r);
      if (ranks.of(key, center) < ranks.of(key, label[r])) label[r] = center;
    }
  }
}

template <class D>
inline void take_group(const Lowest<D>& low, int64_t n_rows, uint32_t* distance, int32_t* label) {
  for (int64_t r = 0; r < n_rows; ++r) distance[r] = low.distance[r];
  for (int64_t r = 0; r < n_rows; ++r) label[r] = static_cast<int32_t>(low.center[r]);
}

// The marked rows among 64 that are not already nearer to an earlier center.
template <class D>
inline uint64_t still_open(uint64_t rows, const D* lowest, const uint32_t* distance) {
  for (uint64_t left = rows; left; left &= left - 1) {
    const int i = std::countr_zero(left);
    if (lowest[i] > distance[i]) rows &= ~(uint64_t{1} << i);
  }
  return rows;
}

// The lowest of the distances to centers first .. first + n, merged into the result so far.
template <class D>
inline void nearest_of_group(const D* distances, int64_t first, int64_t n, int64_t n_rows,
                             const Ranks& ranks, uint32_t* distance, int32_t* label) {
  Lowest<D> low;
  find_lowest(distances, n, n_rows, low);
  for (int64_t r = 0; ranks.ties.by_hash && r < n_rows; r += 64) {
    uint64_t rows = low.tied[r / 64];
    if (n_rows - r < 64) rows &= (uint64_t{1} << (n_rows - r)) - 1;
    if (first) rows = still_open(rows, low.distance + r, distance + r);
    if (rows) settle_ties(distances, first, n, r, rows, ranks, low);
  }
  if (first)
    merge_group(low, first, n_rows, ranks, distance, label);
  else
    take_group(low, n_rows, distance, label);
}

// Rows of a tile that is not full are copied, so that whole vectors can be read.
inline const uint8_t* whole_tile(const TileRows& rows, int64_t tile_rows, int64_t stride,
                                 const Scratch& scratch) {
  if (rows.n == tile_rows) return rows.bytes;
  std::memcpy(scratch.rows, rows.bytes, static_cast<size_t>(rows.n * stride));
  return scratch.rows;
}

}  // namespace softmodes::SOFTMODES_ISA
