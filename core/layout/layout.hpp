// Where the features lie in a packed row: the only description of it.
#pragma once

#include <cstdint>
#include <vector>

namespace softmodes {

// A row is consecutive sections of bytes, filled up to whole pieces of kPieceBytes:
//   [0, bit_bytes)             binary features, eight to a byte
//   [bit_bytes, nibble_end)    nibbles, each of fields of 1 to 4 bits; before plain_end the fields
//                              hold at most 3 codes, so that counting bits counts codes
//   from nibble_end            byte features: of one byte, then of two, then of three (lowest byte
//                              first)
// Binary features fill the spare bits of nibbles first.
struct Layout {
  static constexpr int32_t kMostCodes = 1 << 24;
  static constexpr int64_t kPieceBytes = 16;
  static constexpr int32_t kNibbleCodes = 16;  // features of more are byte features
  static constexpr int32_t kDenseCodes = 256;  // features of more are sparse features

  // Per feature the number of codes that cells hold, and the code that matches everything and
  // counts nothing, or -1. Throws std::invalid_argument for what cannot be packed.
  Layout(std::vector<int32_t> n_codes, std::vector<int32_t> ignored);

  int64_t n_features = 0;
  int64_t stride = 0;  // bytes of a row
  int64_t bit_bytes = 0;
  int64_t plain_end = 0;
  int64_t nibble_end = 0;
  int64_t n_nibbles = 0;
  int64_t n_of_bytes[3] = {};    // byte features of one, two, three bytes
  std::vector<int32_t> n_codes;  // per feature
  std::vector<int32_t> ignored;
  std::vector<int32_t> byte;             // first byte of the field
  std::vector<int32_t> shift;            // bits below the field in its byte
  std::vector<int32_t> bits;             // 1 .. 4 inside a nibble; 8, 16 or 24
  std::vector<int64_t> offsets;          // of the cells of a feature in dense counts
  std::vector<int32_t> byte_features;    // by position
  std::vector<int32_t> sparse_features;  // ascending; these have no cells

  int64_t feature_bytes() const { return nibble_end + whole_bytes(); }  // of a row, all but filling
  int64_t whole_bytes() const { return n_of_bytes[0] + 2 * n_of_bytes[1] + 3 * n_of_bytes[2]; }
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

 private:
  void place_bits(const std::vector<int32_t>& features);
  void place_nibbles(const std::vector<int32_t>& nibble, int32_t n, int32_t n_plain);
  int64_t place_bytes(const std::vector<int32_t>& features, int size, int64_t end);
};

// Packed rows of a table; rows are numbered from first_row in the whole table. Ties are settled by
// the row's values, each at its place in the layout of the fit.
struct Block {
  const Layout& layout;
  const uint8_t* rows;
  int64_t n_rows;
  int64_t first_row;
  const int64_t* weight;               // per row, or null
  const Layout* fit_layout = nullptr;  // if it is another one

  Block rows_from(int64_t first, int64_t n) const {
    return {layout,
            rows + first * layout.stride,
            n,
            first_row + first,
            weight ? weight + first : nullptr,
            fit_layout};
  }
};

}  // namespace softmodes
