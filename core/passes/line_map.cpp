#include "passes/line_map.hpp"

namespace softmodes {

LineMap::LineMap(const Layout& layout, const LineShape& shape) : shape_(shape) {
  const int64_t first_byte_line = shape.narrow_bytes * shape.narrow_values();
  for (int64_t j = 0; j < layout.n_features; ++j) {
    if (layout.bits[j] > 8) continue;
    const int64_t byte = layout.byte[j], mask = (int64_t{1} << layout.bits[j]) - 1;
    const int shift = layout.shift[j];
    Field field{first_byte_line + (byte - shape.narrow_bytes) * 256,
                256,
                0,
                mask,
                layout.n_codes[j],
                layout.offsets[j]};
    if (byte < shape.narrow_bytes && shape.nibbles)
      field = {byte * 32 + shift / 4 * 16, 16, shift % 4, mask, layout.n_codes[j],
               layout.offsets[j]};
    else if (byte < shape.narrow_bytes)
      field = {byte * 256, 256, shift, mask, layout.n_codes[j], layout.offsets[j]};
    fields_.push_back(field);
  }
}

void LineMap::add_to_cells(const uint32_t* sums, int64_t step, int64_t* cells) const {
  for (const Field& field : fields_) {
    int64_t codes[256] = {};
    const uint32_t* sum = sums + field.first_line * step;
    for (int64_t line = 0; line < field.n_lines; ++line)
      codes[line >> field.shift & field.mask] += sum[line * step];
    for (int64_t code = 0; code < field.n_codes; ++code) cells[field.offset + code] += codes[code];
  }
}

}  // namespace softmodes
