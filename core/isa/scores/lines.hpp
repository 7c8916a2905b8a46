// Sums of the lines of a row.
#pragma once

#include <type_traits>

#include "isa/kernels.hpp"
#include "isa/scores/numbers.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kMostVectors = 8;  // of a line, summed in registers

template <class F>
inline void with_count(int64_t n, const F& f) {
  switch (n) {
    case 1:
      return f(std::integral_constant<int, 1>{});
    case 2:
      return f(std::integral_constant<int, 2>{});
    case 3:
      return f(std::integral_constant<int, 3>{});
    case 4:
      return f(std::integral_constant<int, 4>{});
    case 5:
      return f(std::integral_constant<int, 5>{});
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

// Calls f with the number of vectors that lanes are kept in.
template <class Numbers, class F>
inline void with_vectors(int64_t lanes, const F& f) {
  if constexpr (Numbers::kNumbers == Quad::kNumbers && kHasQuads)
    f(std::integral_constant<int, 1>{});
  else
    with_count(lanes / Numbers::kNumbers, f);
}

// Calls visit(line number) for columns from .. to of a row's narrow bytes, or of its byte columns.
template <bool kNibbles, class Visit>
SOFTMODES_INLINE void narrow_lines(const uint8_t* row, int64_t from, int64_t to,
                                   const Visit& visit) {
  for (int64_t i = from; i < to; ++i) {
    if constexpr (kNibbles) {
      visit(i * 32 + (row[i] & 15));
      visit(i * 32 + 16 + (row[i] >> 4));
    } else {
      visit(i * 256 + row[i]);
    }
  }
}
template <bool kNibbles, class Visit>
SOFTMODES_INLINE void byte_lines(const LineShape& shape, const uint8_t* row, int64_t from,
                                 int64_t to, const Visit& visit) {
  const int64_t first = shape.narrow_bytes * (kNibbles ? 32 : 256);
  row += shape.narrow_bytes;
  for (int64_t i = from; i < to; ++i) visit(first + i * 256 + row[i]);
}

// Totals of a row for the N vectors of a group, of lines of 16 bits.
template <int N, bool kNibbles>
SOFTMODES_INLINE void sum_halves(const ScoreView& view, const uint8_t* lines, const uint32_t* start,
                                 const uint8_t* row, uint32_t* total) {
  std::memcpy(total, start, N * kWidth * 2);
  int64_t narrow = 0, byte = 0;
  for (int64_t run = 0; run < view.n_runs; ++run) {
    V sum[N];
    for (int v = 0; v < N; ++v) sum[v] = zero();
    const auto add = [&](int64_t line) {
      const uint8_t* at = lines + line * (N * kWidth);
      for (int v = 0; v < N; ++v) sum[v] = add_numbers16(sum[v], load(at + v * kWidth));
    };
    const LineRun end = view.runs[run];
    narrow_lines<kNibbles>(row, narrow, end.narrow_end, add);
    byte_lines<kNibbles>(view.shape, row, byte, end.byte_end, add);
    narrow = end.narrow_end;
    byte = end.byte_end;
    for (int v = 0; v < N; ++v) add_widened(sum[v], total + v * kWidth / 2);
  }
}

// The same, of lines of 32 bits.
template <class Numbers, int N, bool kNibbles>
SOFTMODES_INLINE void sum_wholes(const LineShape& shape, const uint32_t* lines,
                                 const uint32_t* start, const uint8_t* row, uint32_t* total) {
  constexpr int kCount = Numbers::kNumbers;
  typename Numbers::Vec sum[N];
  for (int v = 0; v < N; ++v) sum[v] = Numbers::load(start + v * kCount);
  const auto add = [&](int64_t line) {
    const uint32_t* at = lines + line * (N * kCount);
    for (int v = 0; v < N; ++v) sum[v] = Numbers::add(sum[v], Numbers::load(at + v * kCount));
  };
  narrow_lines<kNibbles>(row, 0, shape.narrow_bytes, add);
  byte_lines<kNibbles>(shape, row, 0, shape.byte_columns, add);
  for (int v = 0; v < N; ++v) Numbers::store(total + v * kCount, sum[v]);
}

}  // namespace softmodes::SOFTMODES_ISA
