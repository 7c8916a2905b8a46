// Distances along packed rows, for few centers and binary features only.
#pragma once

#include "isa/kernels.hpp"
#include "isa/simd/isa.hpp"

namespace softmodes::SOFTMODES_ISA {

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

inline void compare_rows(const RowView& view, const uint8_t* rows, int64_t n_rows, int64_t n,
                         uint32_t* out) {
  for (int64_t r = 0; r < n_rows; r += 8)
    for (int64_t c = 0; c < n; ++c)
      compare_eight(rows + r * view.stride, view.stride, view.center_rows + c * view.stride,
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

inline void compare_words(const RowView& view, const uint8_t* rows, int64_t n_rows, int64_t n,
                          uint32_t* out) {
  alignas(64) uint8_t words[(kWordsAtOnce + kWordRows) * kWidth];
  const int64_t n_words = view.stride / 8;
  std::memset(out, 0, static_cast<size_t>(n * kTileRows) * sizeof *out);
  for (int64_t r = 0; r < n_rows; r += kWordRows) {
    const uint8_t* row = rows + r * view.stride;
    prefetch(row + 4 * kWordRows * view.stride, kWordRows * view.stride);
    for (int64_t first = 0; first < n_words; first += kWordsAtOnce) {
      const int64_t m = n_words - first < kWordsAtOnce ? n_words - first : kWordsAtOnce;
      gather_words(row, view.stride, first, m, words);
      const uint8_t* center = view.center_rows + first * 8;
      int64_t c = 0;
      for (; c + kQuad <= n; c += kQuad)
        sum_words<kQuad>(words, m, center + c * view.stride, view.stride, out + c * kTileRows + r);
      for (; c < n; ++c)
        sum_words<1>(words, m, center + c * view.stride, view.stride, out + c * kTileRows + r);
    }
  }
}

}  // namespace softmodes::SOFTMODES_ISA
