#include "passes/line_map.hpp"

namespace softmodes {

void LineMap::add_to_cells(const uint32_t* sums, int64_t step, int64_t* cells) const {
  for (const LineField& field : fields_) {
    int64_t codes[256] = {};
    const uint32_t* sum = sums + field.first_line * step;
    for (int64_t line = 0; line < field.n_lines; ++line)
      codes[line >> field.shift & field.mask] += sum[line * step];
    int64_t* mine = cells + layout_.offsets[field.feature];
    for (int64_t code = 0; code < layout_.n_codes[field.feature]; ++code) mine[code] += codes[code];
  }
}

}  // namespace softmodes
