// Rows of bytes <-> columns of bytes or nibbles.
#pragma once

#include "isa/kernels.hpp"
#include "isa/simd/isa.hpp"

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
