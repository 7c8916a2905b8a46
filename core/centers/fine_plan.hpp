// Prices in fine levels of 16 bits, for many clusters: what to look up before exact totals.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/kernels.hpp"
#include "layout/layout.hpp"
#include "memory.hpp"

namespace softmodes {

class Floor;

class FinePlan {
 public:
  // Of scores that coarse levels suit, whose levels are kept for a tile and all centers.
  static constexpr int64_t kMostCenters = int64_t{1} << 14;
  static int64_t most_bytes(int64_t n_centers, const LineShape& shape);
  static ScratchSizes scratch_sizes(int64_t n_centers, const LineShape& shape);

  // Window: what totals that a pass asks for exceed the least by, at most.
  FinePlan(const Layout& layout, const Floor& floor, const ScoreView& scores, uint32_t window);
  const FineView& view() const { return view_; }
  // False if sums of levels do not fit.
  bool fits() const { return fits_; }

 private:
  // A feature in a column.
  struct Field {
    int64_t feature;
    int shift, bits;
  };
  struct Column {
    std::vector<Field> fields;
  };
  struct Errors {
    int64_t least, most;
  };

  void cut_columns(const Layout& layout);
  void choose_unit(const Floor& floor, const ScoreView& scores, uint32_t window);
  void fill_levels(const Floor& floor, const ScoreView& scores, uint32_t window);
  Errors fill_table(const Floor& floor, int64_t center, const Column& column, uint16_t* table);
  void fill_bits(const Layout& layout, const Floor& floor, const ScoreView& scores);
  void fill_lines(const Layout& layout, const Floor& floor, const ScoreView& scores);

  FineView view_{};
  bool fits_ = true;
  int64_t most_least_ = 0;  // what the least total of a row does not exceed
  std::vector<FineColumn> columns_;
  std::vector<Column> fields_;
  std::vector<uint16_t> start_, exact_start_, exact_;
  Buffer tables_, bits_;
};

}  // namespace softmodes
