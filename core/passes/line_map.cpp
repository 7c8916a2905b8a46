#include "passes/line_map.hpp"

namespace softmodes {

void LineMap::add_to_cells(const uint32_t* sums, int64_t step, int64_t* cells) const {
  for (const LineField& field : fields_) {
    uint32_t codes[256] = {};  // sums of lines may be modulo 2^32
    const uint32_t* next = sums + field.first_line * step;
    for (int64_t run = 0; run < field.n_lines >> field.shift; ++run) {  // of lines with one code
      uint32_t sum = 0;
      for (int64_t i = 0; i < int64_t{1} << field.shift; ++i, next += step) sum += *next;
      codes[run & field.mask] += sum;
    }
    int64_t* mine = cells + layout_.offsets[field.feature];
    for (int64_t code = 0; code < layout_.n_codes[field.feature]; ++code) mine[code] += codes[code];
  }
}

}  // namespace softmodes
