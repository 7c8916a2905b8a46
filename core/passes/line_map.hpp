// Sums by line -> counts by cell.
#pragma once

#include <vector>

#include "isa/kernels.hpp"
#include "layout/layout.hpp"

namespace softmodes {

class LineMap {
 public:
  LineMap(const Layout& layout, const LineShape& shape);
  const LineShape& shape() const { return shape_; }

  // Adds a part of a row to its lines; of nibbles.
  void add(const uint8_t* row, uint32_t part, uint32_t* sums) const {
    for (int64_t i = 0; i < shape_.narrow_bytes; ++i, sums += 32) {
      sums[row[i] & 15] += part;
      sums[16 + (row[i] >> 4)] += part;
    }
    row += shape_.narrow_bytes;
    for (int64_t i = 0; i < shape_.byte_columns; ++i, sums += 256) sums[row[i]] += part;
  }

  // Adds sums[line * step] to the dense counts of one cluster.
  void add_to_cells(const uint32_t* sums, int64_t step, int64_t* cells) const;

 private:
  // A feature in a column.
  struct Field {
    int64_t first_line;
    int64_t n_lines;
    int shift;
    int64_t mask;
    int64_t n_codes;
    int64_t offset;
  };
  LineShape shape_;
  std::vector<Field> fields_;
};

}  // namespace softmodes
