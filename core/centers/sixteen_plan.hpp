// Scores of up to four clusters by nibble, for sixteen rows at a time, and the codes to count.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/kernels.hpp"
#include "layout/line_fields.hpp"

namespace softmodes {

class SixteenPlan {
 public:
  static bool suits(const Layout& layout, int64_t n_centers, const Kernels& kernels);
  // Of a plan, and the working memory of a thread.
  static int64_t bytes(const Layout& layout);
  static int64_t scratch_bytes(const Layout& layout);

  // Lines of `scores` are of 32 bits.
  SixteenPlan(const Layout& layout, const ScoreView& scores);
  const SixteenView& view() const { return view_; }

 private:
  void fill_prices(const ScoreView& scores);
  void fill_marks(const Layout& layout, const LineShape& shape);

  SixteenView view_{};
  std::vector<int32_t> start_, prices_;
  std::vector<CodeMark> marks_;
  std::vector<int64_t> first_mark_;
};

}  // namespace softmodes
