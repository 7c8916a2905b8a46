// Distances of a tile of rows to centers. Included by kernels.cpp only.
#pragma once

#include "kernels.hpp"
#include "simd.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kStripVectors = 2;
constexpr int kStripRows = kStripVectors * kWidth;
constexpr int kBlockColumns = 128;  // columns of a tile that stay in L1 while all centers pass

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
    case Kind::lookup:
      sweep_lookup<C>(x, table, s.n_steps, sum);
      matches = false;
      break;
    case Kind::popcount:
      sweep_popcount<C>(x, table, s.n_steps, sum);
      matches = false;
      break;
    case Kind::compare1:
      sweep_compare<1, C>(x, table, s.n_steps, sum);
      break;
    case Kind::compare2:
      sweep_compare<2, C>(x, table, s.n_steps, sum);
      break;
    case Kind::compare3:
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
inline void compare_strip(const Plan& plan, Segments block, const uint8_t* strip,
                          const uint8_t* tables, D* out) {
  Sums<D> sums[C][kStripVectors];
  const bool first = block.begin == plan.segments;
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kStripVectors; ++v)
      first ? sums[c][v].start(plan.base) : sums[c][v].read(out + c * kTileRows + v * kWidth);
  for (const Segment* s = block.begin; s != block.end; ++s)
    add_segment<C, D>(*s, strip, tables, sums);
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kStripVectors; ++v) sums[c][v].write(out + c * kTileRows + v * kWidth);
}

template <int C, class D>
inline void compare_quad(const Plan& plan, Segments block, const uint8_t* tile, int64_t n_rows,
                         const uint8_t* tables, D* out) {
  for (int64_t r = 0; r < n_rows; r += kStripRows)
    compare_strip<C, D>(plan, block, tile + r, tables, out + r);
}

inline Segments next_block(const Plan& plan, const Segment* begin) {
  const Segment* end = begin;
  int64_t columns = 0;
  do columns += (end++)->n_steps;
  while (end != plan.segments + plan.n_segments && columns + end->n_steps <= kBlockColumns);
  return {begin, end};
}

// Memory to be fetched a little at a time while there is something to compute.
struct Ahead {
  const uint8_t* next;
  int64_t left, share;
  void step() {
    const int64_t n = share < left ? share : left;
    prefetch(next, n);
    next += n;
    left -= n;
  }
};

// Distances to centers first .. first + n, where first is a multiple of kQuad.
template <class D>
inline void compare_tile(const Plan& plan, const uint8_t* tile, int64_t n_rows, int64_t first,
                         int64_t n, Ahead ahead, D* out) {
  const Segment* end = plan.segments + plan.n_segments;
  for (Segments block{nullptr, plan.segments}; block.end != end;) {
    block = next_block(plan, block.end);
    for (int64_t c = 0; c < n; c += kQuad) {
      const uint8_t* tables = plan.tables + (first + c) / kQuad * plan.quad_bytes;
      D* d = out + c * kTileRows;
      ahead.step();
      switch (n - c) {
        case 1:
          compare_quad<1, D>(plan, block, tile, n_rows, tables, d);
          break;
        case 2:
          compare_quad<2, D>(plan, block, tile, n_rows, tables, d);
          break;
        case 3:
          compare_quad<3, D>(plan, block, tile, n_rows, tables, d);
          break;
        default:
          compare_quad<4, D>(plan, block, tile, n_rows, tables, d);
      }
    }
  }
}

// ----------------------------------------------------- binary features only, few centers

// Two or three centers: along the rows, no transposition, sums across the vector at the end.
SOFTMODES_INLINE void compare_eight(const uint8_t* rows, int64_t stride, const uint8_t* center,
                                    uint32_t* out) {
  const int64_t whole = stride / kWidth * kWidth, rest = stride - whole;
  V sum[8];
  for (auto& s : sum) s = zero();
  for (int64_t byte = 0; byte < whole; byte += kWidth) {
    const V c = load(center + byte);
    for (int r = 0; r < 8; ++r)
      sum[r] = add64(sum[r], popcount64(xor_(load(rows + r * stride + byte), c)));
  }
  if (rest) {
    const V c = load_front(center + whole, rest);
    for (int r = 0; r < 8; ++r)
      sum[r] = add64(sum[r], popcount64(xor_(load_front(rows + r * stride + whole, rest), c)));
  }
  sums64(sum, out);
}

inline void compare_rows(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t n,
                         uint32_t* out) {
  for (int64_t r = 0; r < n_rows; r += 8)
    for (int64_t c = 0; c < n; ++c)
      compare_eight(rows + r * plan.stride, plan.stride, plan.center_rows + c * plan.stride,
                    out + c * kTileRows + r);
}

// A few more: 8 bytes of several rows side by side. That takes less than half of the shuffles of
// a transposition by bytes, and needs no sums across the vector.
constexpr int64_t kManyInRows = 4;
constexpr int kWordRows = kWidth / 8;
constexpr int kWordsAtOnce = 64;

// Words first .. first + n of kWordRows rows: one vector for each word.
inline void gather_words(const uint8_t* rows, int64_t stride, int64_t first, int64_t n,
                         uint8_t* out) {
  for (int64_t w = 0; w < n; w += kWordRows, out += kWordRows * kWidth) {
    const int64_t byte = (first + w) * 8, left = stride - byte;
    V x[kWordRows];
    for (int r = 0; r < kWordRows; ++r) {
      const uint8_t* p = rows + r * stride + byte;
      x[r] = left >= kWidth ? load(p) : load_front(p, left);
    }
    transpose64(x);
    for (int i = 0; i < kWordRows; ++i) store(out + i * kWidth, x[i]);
  }
}

// Adds the distances of kWordRows rows to C centers in m words.
template <int C>
inline void sum_words(const uint8_t* words, int64_t m, const uint8_t* centers, int64_t stride,
                      uint32_t* out) {
  V sum[C];
  for (auto& s : sum) s = zero();
  for (int64_t w = 0; w < m; ++w) {
    const V x = load(words + w * kWidth);
    for (int c = 0; c < C; ++c)
      sum[c] = add64(sum[c], popcount64(xor_(x, broadcast64(centers + c * stride + w * 8))));
  }
  for (int c = 0; c < C; ++c) add_words(sum[c], out + c * kTileRows);
}

inline void compare_words(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t n,
                          uint32_t* out) {
  alignas(64) uint8_t words[(kWordsAtOnce + kWordRows) * kWidth];
  const int64_t n_words = plan.stride / 8;
  std::memset(out, 0, static_cast<size_t>(n * kTileRows) * sizeof *out);
  for (int64_t r = 0; r < n_rows; r += kWordRows) {
    const uint8_t* row = rows + r * plan.stride;
    prefetch(row + 4 * kWordRows * plan.stride, kWordRows * plan.stride);
    for (int64_t first = 0; first < n_words; first += kWordsAtOnce) {
      const int64_t m = n_words - first < kWordsAtOnce ? n_words - first : kWordsAtOnce;
      gather_words(row, plan.stride, first, m, words);
      const uint8_t* center = plan.center_rows + first * 8;
      int64_t c = 0;
      for (; c + kQuad <= n; c += kQuad)
        sum_words<kQuad>(words, m, center + c * plan.stride, plan.stride, out + c * kTileRows + r);
      for (; c < n; ++c)
        sum_words<1>(words, m, center + c * plan.stride, plan.stride, out + c * kTileRows + r);
    }
  }
}

}  // namespace softmodes::SOFTMODES_ISA
