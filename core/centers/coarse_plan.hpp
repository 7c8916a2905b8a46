// Prices in coarse levels, for many clusters: what to look up before exact totals.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/kernels.hpp"
#include "memory.hpp"

namespace softmodes {

class CoarsePlan {
 public:
  static bool suits(const ScoreView& view);
  static int64_t most_bytes(int64_t n_centers, const LineShape& shape);
  static ScratchSizes scratch_sizes(int64_t n_centers, int64_t lanes, const LineShape& shape);

  explicit CoarsePlan(const ScoreView& view);
  const CoarseView& view() const { return view_; }
  // False if sums of levels do not fit.
  bool fits() const { return fits_; }

 private:
  template <class T>
  void fill_exact(const ScoreView& scores);
  void fill_levels(const ScoreView& scores);
  void cut_segments(const std::vector<int64_t>& top);

  CoarseView view_{};
  bool fits_ = true;
  std::vector<uint16_t> exact_, line_least_, start_;
  std::vector<Segment> segments_;
  Buffer tables_;
};

// What a thread has found out about tiles so far: where most rows have to be looked at again,
// levels do not pay.
struct CoarseNotes {
  int64_t n_rows, n_open, n_skip;

  bool pays(int64_t rows) {
    if (n_skip <= 0) return true;
    n_skip -= rows;
    return false;
  }
  void skip() { n_skip = kSkipped; }
  void add(int64_t rows, int64_t open) {
    constexpr int64_t kLooked = 2048;
    n_rows += rows;
    n_open += open;
    if (n_rows < kLooked) return;
    if (2 * n_open > n_rows) skip();
    n_rows = n_open = 0;
  }

 private:
  static constexpr int64_t kSkipped = 1 << 16;
};

}  // namespace softmodes
