// Where the features of a row lie in its lines.
#pragma once

#include <vector>

#include "isa/kernels.hpp"
#include "layout/layout.hpp"

namespace softmodes {

// A feature of at most one byte: line first_line + v of its column holds code v >> shift & mask.
struct LineField {
  int64_t feature;
  int64_t first_line;
  int64_t n_lines;
  int shift;
  int64_t mask;
};

std::vector<LineField> line_fields(const Layout& layout, const LineShape& shape);

}  // namespace softmodes
