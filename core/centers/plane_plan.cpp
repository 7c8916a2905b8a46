#include "centers/plane_plan.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace softmodes {
namespace {

constexpr int64_t kSetTriples = 64;  // their planes nearly fill a first-level cache of 48 KB
constexpr int64_t kSetPlanes = kSetTriples * kTriplePlanes;
constexpr int64_t kMostPlanes = 8192;  // whose offsets fit in 16 bits

int distance_bits(const Layout& layout) {
  const int needed = std::bit_width(static_cast<uint64_t>(layout.n_features) + 1);
  return *std::lower_bound(std::begin(kDistanceBits), std::end(kDistanceBits), needed);
}

}  // namespace

bool PlanePlan::can_hold(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight) {
  return !feature_weight && n_centers <= kMostPlanes - kSetPlanes - kNibbleValues &&
         layout.n_features < (1 << kMostDistanceBits) - 1;
}

bool PlanePlan::can_hold(const Layout& layout, const Centers& centers) {
  const auto* kind = std::get_if<CodeCenters>(&centers.kind);
  return kind && can_hold(layout, centers.n, kind->feature_weight);
}

ScratchSizes PlanePlan::scratch_sizes(const Layout& layout, int64_t n_centers, int64_t plane_rows,
                                      int distance_bits, int64_t n_planes) {
  ScratchSizes sizes;
  sizes.rows = plane_rows * layout.stride;
  sizes.tile = ceil_div(layout.feature_bytes(), 16) * 16 * plane_rows;
  sizes.distances = std::min<int64_t>(n_centers, kPlaneGroup) * distance_bits * plane_rows / 8;
  sizes.planes = n_planes * plane_rows / 8;
  sizes.offers = n_centers * plane_rows / 4;
  return sizes;
}

ScratchSizes PlanePlan::most_scratch(const Layout& layout, int64_t n_centers, int plane_rows) {
  int64_t n_planes = kSetPlanes;
  for (const int32_t j : layout.byte_features)
    n_planes = std::max(n_planes, std::min<int64_t>(layout.n_codes[j] + 1, n_centers));
  return scratch_sizes(layout, n_centers, plane_rows, distance_bits(layout),
                       n_planes + kNibbleValues);
}

// A center has one addend per feature, at most (a triple has two, and may hold one feature), and
// for a byte feature the place of its value; values are held twice.
int64_t PlanePlan::most_table_bytes(const Layout& layout, int64_t n_centers) {
  int64_t values = 0;
  for (const int32_t j : layout.byte_features)
    values += std::min<int64_t>(layout.n_codes[j] + 1, n_centers);
  const auto n_byte_features = static_cast<int64_t>(layout.byte_features.size());
  return 2 * n_centers * (layout.n_features + 1 + n_byte_features) + 8 * values;
}

PlanePlan::PlanePlan(const Layout& layout, const Centers& centers, int plane_rows)
    : layout_(layout),
      centers_(std::get<CodeCenters>(centers.kind)),
      plane_words_(plane_rows / 64),
      clusters_(centers.clusters) {
  view_.n_centers = centers.n;
  view_.stride = layout.stride;
  view_.feature_bytes = layout.feature_bytes();
  view_.distance_bits = distance_bits(layout);
  view_.clusters = clusters_.data();
  find_units();
  add_sets();
  for (size_t i = 0; i < sets_.size(); ++i) sets_[i].addends = addends_[i].data();
  view_.triples = triples_.data();
  view_.fields = fields_.data();
  view_.values = values_.data();
  view_.sets = sets_.data();
  view_.n_sets = static_cast<int64_t>(sets_.size());
}

// Which features are a bit that all centers have a value for.
std::vector<uint8_t> PlanePlan::plain_binary() const {
  const int64_t d = layout_.n_features;
  std::vector<uint8_t> plain(static_cast<size_t>(d));
  for (int64_t j = 0; j < d; ++j) plain[j] = layout_.bits[j] == 1 && layout_.ignored[j] < 0;
  for (int64_t c = 0; c < view_.n_centers; ++c)
    for (int64_t j = 0; j < d; ++j)
      plain[j] &= static_cast<uint8_t>(static_cast<uint32_t>(centers_.code(layout_, c, j)) <
                                       static_cast<uint32_t>(layout_.n_codes[j]));
  return plain;
}

int32_t PlanePlan::value_of(int64_t center, int64_t feature) const {
  return centers_.matches_something(layout_, center, feature)
             ? centers_.code(layout_, center, feature)
             : -1;
}

PlanePlan::Unit PlanePlan::unit_of(int32_t feature) const {
  Unit unit{{feature}, 1, false, layout_.n_codes[feature] + 1, {}, {}};
  if (layout_.bits[feature] < 8) return unit;
  std::vector<uint16_t> plane(static_cast<size_t>(unit.n_planes));
  for (int64_t c = 0; c < view_.n_centers; ++c) plane[value_of(c, feature) + 1] = 1;
  for (int32_t value = -1; value < layout_.n_codes[feature]; ++value) {
    if (!plane[value + 1]) continue;
    plane[value + 1] = static_cast<uint16_t>(unit.values.size());
    unit.values.push_back(value);
  }
  for (int64_t c = 0; c < view_.n_centers; ++c)
    unit.planes.push_back(plane[value_of(c, feature) + 1]);
  unit.n_planes = static_cast<int64_t>(unit.values.size());
  return unit;
}

void PlanePlan::find_units() {
  const std::vector<uint8_t> plain = plain_binary();
  std::vector<int32_t> others;
  for (int32_t j = 0; j < layout_.n_features; ++j) {
    if (!plain[j]) {
      others.push_back(j);
      continue;
    }
    if (units_.empty() || units_.back().n_features == kTripleFeatures)
      units_.push_back({{}, 0, true, kTriplePlanes, {}, {}});
    units_.back().features[units_.back().n_features++] = j;
  }
  for (const int32_t j : others) units_.push_back(unit_of(j));
}

void PlanePlan::add_sets() {
  const auto n_triples =
      std::count_if(units_.begin(), units_.end(), [](const Unit& unit) { return unit.is_triple; });
  size_t first = 0;
  int64_t n_planes = 0;
  int64_t room = n_triples % kSetTriples * kTriplePlanes;  // so that other sets are full
  for (size_t i = 0; i < units_.size(); ++i) {
    if (i > first && n_planes + units_[i].n_planes > room) {
      add_set(first, i);
      first = i;
      n_planes = 0;
      room = kSetPlanes;
    }
    n_planes += units_[i].n_planes;
  }
  add_set(first, units_.size());
}

void PlanePlan::add_set(size_t first, size_t last) {
  PlaneSet set{};
  set.first_triple = static_cast<int64_t>(triples_.size());
  set.first_field = static_cast<int64_t>(fields_.size());
  int64_t n_planes = kNibbleValues;
  for (size_t i = first; i < last; ++i) {
    if (units_[i].is_triple)
      triples_.push_back(triple_of(units_[i]));
    else
      add_field(units_[i]);
    n_planes += units_[i].n_planes;
  }
  set.n_ones = static_cast<int64_t>(last - first);
  set.n_triples = static_cast<int64_t>(triples_.size()) - set.first_triple;
  set.n_fields = static_cast<int64_t>(fields_.size()) - set.first_field;
  most_planes_ = std::max(most_planes_, n_planes);
  sets_.push_back(set);
  const int64_t n_addends = set.n_ones + set.n_triples;
  uint16_t* out = addends_.emplace_back(static_cast<size_t>(view_.n_centers * n_addends)).data();
  for (int64_t c = 0; c < view_.n_centers; ++c, out += n_addends)
    write_addends(c, first, last, out, out + set.n_ones);
}

Triple PlanePlan::triple_of(const Unit& unit) const {
  Triple triple{{-1, -1, -1}};
  for (int i = 0; i < unit.n_features; ++i)
    triple.bit[i] = layout_.byte[unit.features[i]] * 8 + layout_.shift[unit.features[i]];
  return triple;
}

void PlanePlan::add_field(const Unit& unit) {
  const int32_t j = unit.features[0];
  fields_.push_back({layout_.byte[j] * 8 + layout_.shift[j], layout_.bits[j], layout_.ignored[j],
                     static_cast<int32_t>(unit.n_planes), static_cast<int64_t>(values_.size())});
  values_.insert(values_.end(), unit.values.begin(), unit.values.end());
}

int64_t PlanePlan::field_plane(const Unit& unit, int64_t center) const {
  if (!unit.planes.empty()) return unit.planes[center];
  const int32_t value = value_of(center, unit.features[0]);
  return value < 0 ? unit.n_planes - 1 : value;
}

void PlanePlan::write_addends(int64_t center, size_t first, size_t last, uint16_t* ones,
                              uint16_t* twos) const {
  const int32_t* codes = centers_.of(layout_, center);
  int64_t plane = 0;
  for (size_t i = first; i < last; ++i) {
    const Unit& unit = units_[i];
    if (unit.is_triple) {
      unsigned bits = 0;
      for (int b = 0; b < unit.n_features; ++b)
        bits |= static_cast<unsigned>(codes[unit.features[b]]) << b;
      *ones++ = offset(plane + std::popcount(bits) % 2);
      *twos++ = offset(plane + 2 + bits);
    } else {
      *ones++ = offset(plane + field_plane(unit, center));
    }
    plane += unit.n_planes;
  }
}

}  // namespace softmodes
