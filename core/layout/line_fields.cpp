#include "layout/line_fields.hpp"

namespace softmodes {

std::vector<LineField> line_fields(const Layout& layout, const LineShape& shape) {
  const int64_t first_byte_line = shape.narrow_bytes * shape.narrow_values();
  std::vector<LineField> fields;
  for (int64_t j = 0; j < layout.n_features; ++j) {
    if (layout.bits[j] > 8) continue;
    const int64_t byte = layout.byte[j], mask = (int64_t{1} << layout.bits[j]) - 1;
    const int shift = layout.shift[j];
    if (byte >= shape.narrow_bytes)
      fields.push_back({j, first_byte_line + (byte - shape.narrow_bytes) * 256, 256, 0, mask});
    else if (shape.nibbles)
      fields.push_back({j, byte * 32 + shift / 4 * 16, 16, shift % 4, mask});
    else
      fields.push_back({j, byte * 256, 256, shift, mask});
  }
  return fields;
}

}  // namespace softmodes
