// Distances of a tile of rows to centers, by columns.
#pragma once

#include "isa/ahead.hpp"
#include "isa/kernels.hpp"
#include "isa/simd/isa.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kStripVectors = 2;
constexpr int kStripRows = kStripVectors * kWidth;
constexpr int kCachedColumns = 128;  // that stay in L1 while all centers pass

inline const uint32_t* words(const uint8_t* p) { return reinterpret_cast<const uint32_t*>(p); }

template <int C>
inline void sweep_lookup(const uint8_t* x, const uint8_t* table, int n,
                         V (&sum)[C][kStripVectors]) {
  for (int step = 0; step < n; ++step, x += kTileRows, table += kQuad * 16) {
    V column[kStripVectors];
    for (int v = 0; v < kStripVectors; ++v) column[v] = load(x + v * kWidth);
    for (int c = 0; c < C; ++c) {
      const V mismatches = broadcast_lane(table + 16 * c);
      for (int v = 0; v < kStripVectors; ++v)
        sum[c][v] = add8(sum[c][v], lookup(mismatches, column[v]));
    }
  }
}

template <int C>
inline void sweep_popcount([[maybe_unused]] const uint8_t* x, [[maybe_unused]] const uint8_t* table,
                           [[maybe_unused]] int n, [[maybe_unused]] V (&sum)[C][kStripVectors]) {
  if constexpr (kPopcount) {
    for (int step = 0; step < n; ++step, x += kTileRows, table += kQuad * 4) {
      V column[kStripVectors];
      for (int v = 0; v < kStripVectors; ++v) column[v] = load(x + v * kWidth);
      for (int c = 0; c < C; ++c) {
        const V center = broadcast32(words(table) + c);
        for (int v = 0; v < kStripVectors; ++v)
          sum[c][v] = add8(sum[c][v], popcount8(xor_(column[v], center)));
      }
    }
  }
}

// Sums what matches are worth, for features of B byte columns.
template <int B, int C>
inline void sweep_compare(const uint8_t* x, const uint8_t* table, int n,
                          V (&sum)[C][kStripVectors]) {
  for (int step = 0; step < n; ++step, x += B * kTileRows, table += kQuad * 4 * (B + 1)) {
    for (int c = 0; c < C; ++c) {
      const uint32_t* center = words(table) + c * (B + 1);
      for (int v = 0; v < kStripVectors; ++v) {
        V worth = broadcast32(center + B);
        for (int b = 0; b < B; ++b)
          worth =
              and_(worth, equal8(load(x + b * kTileRows + v * kWidth), broadcast32(center + b)));
        sum[c][v] = add8(sum[c][v], worth);
      }
    }
  }
}

// Distances of kWidth rows to one center, while segments are added to it.
template <class D>
struct Sums;

template <>
struct Sums<uint8_t> {
  V at;
  void start(uint32_t base) { at = broadcast8(static_cast<uint8_t>(base)); }
  void read(const uint8_t* p) { at = load(p); }
  void write(uint8_t* p) const { store(p, at); }
  void add(V x, int) { at = add8(at, x); }
  void subtract(V x, int) { at = sub8(at, x); }
};

template <>
struct Sums<uint16_t> {
  V16 at;
  void start(uint32_t base) { at = broadcast16(static_cast<uint16_t>(base)); }
  void read(const uint16_t* p) { at = load16(p); }
  void write(uint16_t* p) const { store16(p, at); }
  void add(V x, int shift) { at = add16(at, x, shift); }
  void subtract(V x, int shift) { at = sub16(at, x, shift); }
};

template <>
struct Sums<uint32_t> {
  uint32_t at[kWidth];
  void start(uint32_t base) {
    for (auto& a : at) a = base;
  }
  void read(const uint32_t* p) { std::memcpy(at, p, sizeof at); }
  void write(uint32_t* p) const { std::memcpy(p, at, sizeof at); }
  void add(V x, int shift) {
    uint8_t bytes[kWidth];
    store(bytes, x);
    for (int i = 0; i < kWidth; ++i) at[i] += static_cast<uint32_t>(bytes[i]) << shift;
  }
  void subtract(V x, int shift) {
    uint8_t bytes[kWidth];
    store(bytes, x);
    for (int i = 0; i < kWidth; ++i) at[i] -= static_cast<uint32_t>(bytes[i]) << shift;
  }
};

template <int C, class D>
inline void add_segment(const Segment& s, const uint8_t* strip, const uint8_t* tables,
                        Sums<D> (&sums)[C][kStripVectors]) {
  V sum[C][kStripVectors];
  for (auto& row : sum)
    for (auto& v : row) v = zero();
  const uint8_t* x = strip + static_cast<int64_t>(s.first_column) * kTileRows;
  const uint8_t* table = tables + s.table;
  bool matches = true;
  switch (s.kind) {
    case SegmentKind::lookup:
      sweep_lookup<C>(x, table, s.n_steps, sum);
      matches = false;
      break;
    case SegmentKind::popcount:
      sweep_popcount<C>(x, table, s.n_steps, sum);
      matches = false;
      break;
    case SegmentKind::compare1:
      sweep_compare<1, C>(x, table, s.n_steps, sum);
      break;
    case SegmentKind::compare2:
      sweep_compare<2, C>(x, table, s.n_steps, sum);
      break;
    case SegmentKind::compare3:
      sweep_compare<3, C>(x, table, s.n_steps, sum);
      break;
  }
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kStripVectors; ++v)
      matches ? sums[c][v].subtract(sum[c][v], s.shift) : sums[c][v].add(sum[c][v], s.shift);
}

struct Segments {
  const Segment* begin;
  const Segment* end;
};

template <int C, class D>
inline void compare_strip(const TileView& view, Segments cached, const uint8_t* strip,
                          const uint8_t* tables, D* out) {
  Sums<D> sums[C][kStripVectors];
  const bool first = cached.begin == view.segments;
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kStripVectors; ++v)
      first ? sums[c][v].start(view.base) : sums[c][v].read(out + c * kTileRows + v * kWidth);
  for (const Segment* s = cached.begin; s != cached.end; ++s)
    add_segment<C, D>(*s, strip, tables, sums);
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kStripVectors; ++v) sums[c][v].write(out + c * kTileRows + v * kWidth);
}

template <int C, class D>
inline void compare_quad(const TileView& view, Segments cached, const uint8_t* tile, int64_t n_rows,
                         const uint8_t* tables, D* out) {
  for (int64_t r = 0; r < n_rows; r += kStripRows)
    compare_strip<C, D>(view, cached, tile + r, tables, out + r);
}

inline Segments next_cached(const TileView& view, const Segment* begin) {
  const Segment* end = begin;
  int64_t columns = 0;
  do columns += (end++)->n_steps;
  while (end != view.segments + view.n_segments && columns + end->n_steps <= kCachedColumns);
  return {begin, end};
}

// Distances to centers first .. first + n, where first is a multiple of kQuad.
template <class D>
inline void compare_tile(const TileView& view, const uint8_t* tile, int64_t n_rows, int64_t first,
                         int64_t n, Ahead ahead, D* out) {
  const Segment* end = view.segments + view.n_segments;
  for (Segments cached{nullptr, view.segments}; cached.end != end;) {
    cached = next_cached(view, cached.end);
    for (int64_t c = 0; c < n; c += kQuad) {
      const uint8_t* tables = view.tables + (first + c) / kQuad * view.quad_bytes;
      D* d = out + c * kTileRows;
      ahead.step();
      switch (n - c) {
        case 1:
          compare_quad<1, D>(view, cached, tile, n_rows, tables, d);
          break;
        case 2:
          compare_quad<2, D>(view, cached, tile, n_rows, tables, d);
          break;
        case 3:
          compare_quad<3, D>(view, cached, tile, n_rows, tables, d);
          break;
        default:
          compare_quad<4, D>(view, cached, tile, n_rows, tables, d);
      }
    }
  }
}

}  // namespace softmodes::SOFTMODES_ISA
