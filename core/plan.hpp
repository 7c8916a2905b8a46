// Centers made ready for the tile kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "layout.hpp"
#include "slices.hpp"

namespace softmodes {

// Memory that starts on a cache line.
class Buffer {
 public:
  explicit Buffer(int64_t size = 0)
      : memory_(new uint8_t[static_cast<size_t>(size) + 64]()),
        data_(memory_.get() + (64 - reinterpret_cast<uintptr_t>(memory_.get()) % 64)) {}
  uint8_t* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::unique_ptr<uint8_t[]> memory_;
  uint8_t* data_;
};

// Owns what a Plan points to.
class CenterPlan {
 public:
  enum class Use { nearest, nearer, distances };  // by which kernel
  CenterPlan(const Layout& layout, const Centers& centers, const Kernels& kernels, Use use);
  const Plan& view() const { return plan_; }
  // Working memory for a tile.
  int64_t tile_bytes() const;
  int64_t distances_bytes() const;
  int64_t planes_bytes() const;

 private:
  bool suits_popcount() const;
  bool suits_rows(const Kernels& kernels) const;
  void add_bits();
  void add_nibbles();
  void add_wide();
  void add_segments(Kind kind, int shift, int64_t first_column, int64_t n_steps,
                    int columns_per_step, int step_bytes, int64_t largest);
  void fill_bits(uint8_t* quad, int lane, int64_t center) const;
  void fill_nibbles(uint8_t* quad, int lane, int64_t center) const;
  void fill_wide(uint8_t* quad, int lane, int64_t center) const;
  void pack_centers();

  uint32_t weight(int64_t feature) const {
    return centers_.feature_weight ? centers_.feature_weight[feature] : 1;
  }
  int32_t center_code(int64_t center, int64_t feature) const {
    return centers_.codes[center * layout_.n_features + feature];
  }
  bool matches_something(int64_t center, int64_t feature) const {
    return centers_.matches_something(layout_, center, feature);
  }

  const Layout& layout_;
  Centers centers_;
  Plan plan_{};
  std::vector<Segment> segments_;
  std::vector<IgnoredWide> ignored_;
  std::vector<std::vector<int32_t>> by_nibble_;  // features of each nibble column
  int64_t popcount_table_ = -1;
  std::vector<int64_t> nibble_tables_;             // per digit plane
  std::vector<std::vector<int64_t>> wide_tables_;  // per size and digit plane
  Buffer tables_;
  Buffer center_rows_;
  std::vector<int32_t> clusters_;
  std::unique_ptr<SlicedCenters> sliced_;
};

}  // namespace softmodes
