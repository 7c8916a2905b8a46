// Sums by line -> counts by cell.
#pragma once

#include <vector>

#include "layout/line_fields.hpp"

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

  // Adds sums[line * lanes + cluster] to the dense counts of the first clusters.
  void add_to_cells(const uint32_t* sums, int64_t lanes, int64_t n_clusters, int64_t* cells) const;

 private:
  std::vector<uint32_t> in_halves(const uint32_t* sums, int64_t lanes) const;

  const Layout& layout_;
  LineShape shape_;
  LineShape halved_;  // the same with two columns for each narrow byte
  std::vector<LineField> fields_;
};

}  // namespace softmodes
