// Centers as lists of bit planes to be added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "centers/centers.hpp"
#include "isa/kernels.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace softmodes {

class PlanePlan {
 public:
  static bool can_hold(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight);
  static bool can_hold(const Layout& layout, const Centers& centers);
  // The most that any centers of that number need.
  static ScratchSizes most_scratch(const Layout& layout, int64_t n_centers, int plane_rows);
  static int64_t most_table_bytes(const Layout& layout, int64_t n_centers);

  PlanePlan(const Layout& layout, const Centers& centers, int plane_rows);
  PlanePlan(PlanePlan&&) = default;
  PlanePlan(const PlanePlan&) = delete;  // the view points to what this owns
  const PlaneView& view() const { return view_; }
  int64_t n_centers() const { return view_.n_centers; }
  int64_t tile_rows() const { return 64 * plane_words_; }
  ScratchSizes scratch_sizes() const {
    return scratch_sizes(layout_, n_centers(), tile_rows(), view_.distance_bits, most_planes_);
  }

  bool nearest(const Kernels& kernels, const TileRows& rows, const Ties& ties,
               const Scratch& scratch, Nearest out, const Stop& stop) const {
    if (stop.requested()) return false;
    kernels.nearest_by_planes(view_, rows, ties, scratch, out);
    return true;
  }

 private:
  static constexpr int kTripleFeatures = 3;

  // What has planes of its own: up to three binary features, or one feature of any other kind.
  struct Unit {
    int32_t features[kTripleFeatures];
    int n_features;
    bool is_triple;
    int64_t n_planes;
    // Of a byte feature:
    std::vector<int32_t> values;   // what centers have, ascending
    std::vector<uint16_t> planes;  // which of them each center has
  };

  static ScratchSizes scratch_sizes(const Layout& layout, int64_t n_centers, int64_t plane_rows,
                                    int distance_bits, int64_t n_planes);
  void find_units();
  void add_sets();
  void add_set(size_t first, size_t last);
  std::vector<uint8_t> plain_binary() const;
  Unit unit_of(int32_t feature) const;
  Triple triple_of(const Unit& unit) const;
  void add_field(const Unit& unit);
  void write_addends(int64_t center, size_t first, size_t last, uint16_t* ones,
                     uint16_t* twos) const;
  uint16_t offset(int64_t plane) const { return static_cast<uint16_t>(plane * plane_words_); }
  int64_t field_plane(const Unit& unit, int64_t center) const;
  int32_t value_of(int64_t center, int64_t feature) const;

  const Layout& layout_;
  CodeCenters centers_;
  int64_t plane_words_;  // of 8 bytes
  PlaneView view_{};
  std::vector<Unit> units_;  // triples first
  std::vector<Triple> triples_;
  std::vector<Field> fields_;
  std::vector<int32_t> values_;
  std::vector<PlaneSet> sets_;
  std::vector<std::vector<uint16_t>> addends_;  // per set
  std::vector<int32_t> clusters_;
  int64_t most_planes_ = 0;  // of a set
};

}  // namespace softmodes
