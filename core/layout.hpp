// Where the features lie in a packed row.
#pragma once

#include <cstdint>
#include <vector>

namespace softmodes {

// A row is consecutive sections of bytes:
//   [0, bit_bytes)             binary features, eight to a byte
//   [bit_bytes, nibble_end)    nibbles, each of fields of 1 to 4 bits; before plain_end the fields
//                              hold at most 3 codes, so that counting bits counts codes
//   from nibble_end            features of one byte, then of two, then of three (lowest byte first)
struct Layout {
  int64_t n_features = 0;
  int64_t stride = 0;
  int64_t bit_bytes = 0;
  int64_t plain_end = 0;
  int64_t nibble_end = 0;
  int64_t n_nibbles = 0;
  int64_t n_wide[3] = {};        // features of one, two, three bytes
  std::vector<int32_t> n_codes;  // per feature
  std::vector<int32_t> ignored;  // code that matches everything and counts nothing, or -1
  std::vector<int32_t> byte;     // first byte of the field
  std::vector<int32_t> shift;    // bits below the field in its byte
  std::vector<int32_t> bits;     // 1 .. 4 inside a nibble; 8, 16 or 24
  std::vector<int64_t> offsets;  // of the cells of a feature in dense counts
  std::vector<int32_t> wide;     // features of whole bytes, by position

  int64_t wide_bytes() const { return n_wide[0] + 2 * n_wide[1] + 3 * n_wide[2]; }
  int64_t n_cells() const { return offsets.back(); }

  int32_t code(const uint8_t* row, int64_t feature) const {
    const uint8_t* p = row + byte[feature];
    switch (bits[feature]) {
      case 8:
        return p[0];
      case 16:
        return p[0] | p[1] << 8;
      case 24:
        return p[0] | p[1] << 8 | p[2] << 16;
      default:
        return p[0] >> shift[feature] & ((1 << bits[feature]) - 1);
    }
  }
};

// Packed rows of a table; rows are numbered from first_row in the whole table.
struct Block {
  const Layout& layout;
  const uint8_t* rows;
  int64_t n_rows;
  int64_t first_row;
  const int64_t* weight;  // per row, or null
};

}  // namespace softmodes
