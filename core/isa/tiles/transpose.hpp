// Rows -> the columns of a tile.
#pragma once

#include "isa/transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

inline void store_bytes(V x, uint8_t* out) { store(out, x); }
inline void store_nibbles(V x, uint8_t* out) {
  store(out, low_nibbles(x));
  store(out + kTileRows, high_nibbles(x));
}

// The tile's columns for kWidth rows: bytes as they are, then nibbles, then bytes again.
// The last 16 bytes may be written whole: a tile has room for kSpareColumns more.
inline void transpose_strip(const TileView& view, const uint8_t* rows, uint8_t* strip) {
  const int64_t nibbles_end = view.bit_columns + view.nibble_columns / 2;
  const int64_t end = nibbles_end + view.byte_columns;
  V columns[16];
  for (int64_t first = 0; first < end; first += 16) {
    load_columns(rows + first, view.stride, columns);
    const int64_t last = first + 16;
    if (last <= view.bit_columns || view.bit_columns == end) {
      uint8_t* out = strip + first * kTileRows;
      for (int i = 0; i < 16; ++i) store_bytes(columns[i], out + i * kTileRows);
    } else if (first >= view.bit_columns && (last <= nibbles_end || nibbles_end == end)) {
      uint8_t* out = strip + (2 * first - view.bit_columns) * kTileRows;
      for (int i = 0; i < 16; ++i) store_nibbles(columns[i], out + 2 * i * kTileRows);
    } else {
      for (int64_t byte = first; byte < (last < end ? last : end); ++byte) {
        const V x = columns[byte - first];
        if (byte < view.bit_columns)
          store_bytes(x, strip + byte * kTileRows);
        else if (byte < nibbles_end)
          store_nibbles(x, strip + (2 * byte - view.bit_columns) * kTileRows);
        else
          store_bytes(x, strip + (byte + view.nibble_columns / 2) * kTileRows);
      }
    }
  }
}

// With many centers the rows of the next tile are fetched while this one is compared.
constexpr int64_t kManyToCompare = 16;

inline void transpose_tile(const TileView& view, const uint8_t* rows, int64_t n_rows,
                           uint8_t* tile) {
  for (int64_t r = 0; r < n_rows; r += kWidth) {
    const uint8_t* strip = rows + r * view.stride;
    if (view.n_centers < kManyToCompare)
      prefetch(strip + kTileRows * view.stride, kWidth * view.stride);
    transpose_strip(view, strip, tile + r);
  }
}

}  // namespace softmodes::SOFTMODES_ISA
