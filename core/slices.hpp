// Centers made ready for comparison by bit planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "layout.hpp"

namespace softmodes {

struct Centers {
  const int32_t* codes;  // n x n_features; a code that no cell can hold matches nothing
  int64_t n;
  const uint32_t* feature_weight;     // or null: all 1
  const int32_t* clusters = nullptr;  // which of all centers these are; null: all

  int32_t code(const Layout& layout, int64_t center, int64_t feature) const {
    return codes[center * layout.n_features + feature];
  }
  bool matches_something(const Layout& layout, int64_t center, int64_t feature) const {
    const int32_t value = code(layout, center, feature);
    return value >= 0 && value < layout.n_codes[feature] && value != layout.ignored[feature];
  }
};

// Owns what a SlicedPlan points to. The layout and the centers must outlive it.
class SlicedCenters {
 public:
  static bool can_hold(const Layout& layout, const Centers& centers);
  SlicedCenters(const Layout& layout, const Centers& centers, int plane_rows);
  const SlicedPlan& view() const { return plan_; }
  int64_t most_planes() const { return most_planes_; }  // of a block

 private:
  static constexpr int kTripleFeatures = 3;

  // Up to three binary features, or one feature of any other kind.
  struct Part {
    int32_t features[kTripleFeatures];
    int n_features;
    bool is_triple;
    int64_t n_planes;
    // Of a feature of whole bytes:
    std::vector<int32_t> values;   // what centers have, ascending
    std::vector<uint16_t> planes;  // which of them each center has
  };

  void find_parts();
  void add_blocks();
  void add_block(size_t first, size_t last);
  std::vector<uint8_t> plain_binary() const;
  Part part_of(int32_t feature) const;
  Triple triple_of(const Part& part) const;
  void add_field(const Part& part);
  void write_addends(int64_t center, size_t first, size_t last, uint16_t* ones,
                     uint16_t* twos) const;
  uint16_t offset(int64_t plane) const { return static_cast<uint16_t>(plane * plane_words_); }
  int64_t field_plane(const Part& part, int64_t center) const;
  int32_t value_of(int64_t center, int64_t feature) const;

  const Layout& layout_;
  const Centers& centers_;
  int64_t plane_words_;  // of 8 bytes
  SlicedPlan plan_{};
  std::vector<Part> parts_;  // triples first
  std::vector<Triple> triples_;
  std::vector<Field> fields_;
  std::vector<int32_t> values_;
  std::vector<SlicedBlock> blocks_;
  std::vector<std::vector<uint16_t>> addends_;  // per block
  int64_t most_planes_ = 0;
};

}  // namespace softmodes
