#include "passes/line_map.hpp"

#include <algorithm>

namespace softmodes {

static LineShape halved(LineShape shape) {
  shape.nibbles = true;
  return shape;
}

LineMap::LineMap(const Layout& layout, const LineShape& shape)
    : layout_(layout),
      shape_(shape),
      halved_(halved(shape)),
      fields_(line_fields(layout, halved_)) {}

void LineMap::add_to_cells(const uint32_t* sums, int64_t lanes, int64_t n_clusters,
                           int64_t* cells) const {
  std::vector<uint32_t> halves;
  if (!shape_.nibbles) {
    halves = in_halves(sums, lanes);
    sums = halves.data();
  }
  std::vector<uint32_t> codes;  // by code and lane; sums of lines may be modulo 2^32
  for (const LineField& field : fields_) {
    codes.assign(static_cast<size_t>((field.mask + 1) * lanes), 0);
    const uint32_t* line = sums + field.first_line * lanes;
    for (int64_t v = 0; v < field.n_lines; ++v, line += lanes) {
      uint32_t* sum = codes.data() + (v >> field.shift & field.mask) * lanes;
      for (int64_t c = 0; c < lanes; ++c) sum[c] += line[c];
    }
    int64_t* first = cells + layout_.offsets[field.feature];
    for (int64_t c = 0; c < n_clusters; ++c, first += layout_.n_cells())
      for (int64_t code = 0; code < layout_.n_codes[field.feature]; ++code)
        first[code] += codes[code * lanes + c];
  }
}

// Sums of the 256 values of each byte -> of the 16 values of both its halves.
std::vector<uint32_t> LineMap::in_halves(const uint32_t* sums, int64_t lanes) const {
  std::vector<uint32_t> halves(static_cast<size_t>(halved_.n_lines() * lanes));
  uint32_t* half = halves.data();
  for (int64_t byte = 0; byte < shape_.narrow_bytes; ++byte, half += 32 * lanes)
    for (int64_t v = 0; v < 256; ++v, sums += lanes) {
      uint32_t *low = half + (v & 15) * lanes, *high = half + (16 + (v >> 4)) * lanes;
      for (int64_t c = 0; c < lanes; ++c) {
        low[c] += sums[c];
        high[c] += sums[c];
      }
    }
  std::copy_n(sums, shape_.byte_columns * 256 * lanes, half);
  return halves;
}

}  // namespace softmodes
