// Rows of bytes <-> columns of bytes or nibbles. Included by kernels.cpp only.
#pragma once

#include "kernels.hpp"
#include "simd.hpp"

namespace softmodes::SOFTMODES_ISA {

// Transposes 16 x 16 bytes in every lane: byte j of a[i] becomes byte i of a[j].
inline void transpose16(V (&a)[16]) {
  V b[16];
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 8; ++i) {
      b[2 * i] = interleave_low(a[i], a[i + 8]);
      b[2 * i + 1] = interleave_high(a[i], a[i + 8]);
    }
    for (int i = 0; i < 8; ++i) {
      a[2 * i] = interleave_low(b[i], b[i + 8]);
      a[2 * i + 1] = interleave_high(b[i], b[i + 8]);
    }
  }
}

// Transposes 8 x 16 bytes in every lane: a[i] gets bytes 2 i and 2 i + 1 of all eight.
SOFTMODES_INLINE void transpose8(V (&a)[8]) {
  V b[8];
  for (int stage = 0; stage < 3; ++stage) {
    for (int i = 0; i < 4; ++i) {
      b[2 * i] = interleave_low(a[i], a[i + 4]);
      b[2 * i + 1] = interleave_high(a[i], a[i + 4]);
    }
    for (int i = 0; i < 8; ++i) a[i] = b[i];
  }
}

// Eight planes of bits as 8 * kWidth bytes: bit b of byte i is bit i of plane b.
inline void bytes_of_planes(const V (&plane)[8], uint8_t* bytes) {
  V a[8];
  for (int i = 0; i < 8; ++i) a[i] = plane[i];
  transpose8(a);
  for (int i = 0; i < 8; ++i) {
    uint8_t lanes[kWidth];
    store(lanes, transpose_bits(a[i]));
    for (int lane = 0; lane < kLanes; ++lane)
      std::memcpy(bytes + lane * 128 + i * 16, lanes + lane * 16, 16);
  }
}

// Loads byte columns first .. first + 16 of kWidth rows, row r at byte r of every column.
inline void load_columns(const uint8_t* rows, int64_t stride, V (&columns)[16]) {
  for (int i = 0; i < 16; ++i) {
    const uint8_t* lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = rows + (16 * lane + i) * stride;
    columns[i] = load_lanes(lanes);
  }
  transpose16(columns);
}

inline void store_bytes(V x, uint8_t* out) { store(out, x); }
inline void store_nibbles(V x, uint8_t* out) {
  store(out, low_nibbles(x));
  store(out + kTileRows, high_nibbles(x));
}

// The tile's columns for kWidth rows: bytes as they are, then nibbles, then bytes again.
// The last 16 bytes may be written whole: a tile has room for kSpareColumns more.
inline void transpose_strip(const Plan& plan, const uint8_t* rows, uint8_t* strip) {
  const int64_t nibbles_end = plan.byte_columns + plan.nibble_columns / 2;
  const int64_t end = nibbles_end + plan.wide_columns;
  V columns[16];
  for (int64_t first = 0; first < end; first += 16) {
    load_columns(rows + first, plan.stride, columns);
    const int64_t last = first + 16;
    if (last <= plan.byte_columns || plan.byte_columns == end) {
      uint8_t* out = strip + first * kTileRows;
      for (int i = 0; i < 16; ++i) store_bytes(columns[i], out + i * kTileRows);
    } else if (first >= plan.byte_columns && (last <= nibbles_end || nibbles_end == end)) {
      uint8_t* out = strip + (2 * first - plan.byte_columns) * kTileRows;
      for (int i = 0; i < 16; ++i) store_nibbles(columns[i], out + 2 * i * kTileRows);
    } else {
      for (int64_t byte = first; byte < (last < end ? last : end); ++byte) {
        const V x = columns[byte - first];
        if (byte < plan.byte_columns)
          store_bytes(x, strip + byte * kTileRows);
        else if (byte < nibbles_end)
          store_nibbles(x, strip + (2 * byte - plan.byte_columns) * kTileRows);
        else
          store_bytes(x, strip + (byte + plan.nibble_columns / 2) * kTileRows);
      }
    }
  }
}

// With many centers the rows of the next tile are fetched while this one is compared.
constexpr int64_t kManyToCompare = 16;

inline void transpose_tile(const Plan& plan, const uint8_t* rows, int64_t n_rows, uint8_t* tile) {
  for (int64_t r = 0; r < n_rows; r += kWidth) {
    const uint8_t* strip = rows + r * plan.stride;
    if (plan.n_centers < kManyToCompare)
      prefetch(strip + kTileRows * plan.stride, kWidth * plan.stride);
    transpose_strip(plan, strip, tile + r);
  }
}

// Writes byte columns, kTileRows apart, as the first n_rows packed rows.
inline void untranspose(const uint8_t* columns, int64_t stride, int64_t n_rows, uint8_t* rows) {
  V a[16];
  uint8_t bytes[kWidth];
  for (int64_t r = 0; r < n_rows; r += kWidth) {
    for (int64_t first = 0; first < stride; first += 16) {
      for (int i = 0; i < 16; ++i) a[i] = load(columns + (first + i) * kTileRows + r);
      transpose16(a);
      for (int i = 0; i < 16; ++i) {
        store(bytes, a[i]);
        for (int lane = 0; lane < kLanes; ++lane) {
          const int64_t row = r + 16 * lane + i;
          if (row < n_rows) std::memcpy(rows + row * stride + first, bytes + 16 * lane, 16);
        }
      }
    }
  }
}

}  // namespace softmodes::SOFTMODES_ISA
