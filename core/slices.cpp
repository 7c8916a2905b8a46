#include "slices.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace softmodes {
namespace {

constexpr int64_t kBlockTriples = 64;  // their planes nearly fill a first-level cache of 48 KB
constexpr int64_t kBlockPlanes = kBlockTriples * kTriplePlanes;
constexpr int64_t kMostPlanes = 8192;  // whose offsets fit in 16 bits

}  // namespace

bool SlicedCenters::can_hold(const Layout& layout, const Centers& centers) {
  return !centers.feature_weight && centers.n <= kMostPlanes - kBlockPlanes - kNibbleValues &&
         layout.n_features < (1 << kMostDistanceBits) - 1;
}

SlicedCenters::SlicedCenters(const Layout& layout, const Centers& centers, int plane_rows)
    : layout_(layout), centers_(centers), plane_words_(plane_rows / 64) {
  find_parts();
  add_blocks();
  for (size_t i = 0; i < blocks_.size(); ++i) blocks_[i].addends = addends_[i].data();
  plan_.n_bytes = layout.nibble_end + layout.wide_bytes();
  const int needed = std::bit_width(static_cast<uint64_t>(layout.n_features) + 1);
  plan_.distance_bits =
      *std::lower_bound(std::begin(kDistanceBits), std::end(kDistanceBits), needed);
  plan_.triples = triples_.data();
  plan_.fields = fields_.data();
  plan_.values = values_.data();
  plan_.blocks = blocks_.data();
  plan_.n_blocks = static_cast<int64_t>(blocks_.size());
}

// Which features are a bit that all centers have a value for.
std::vector<uint8_t> SlicedCenters::plain_binary() const {
  const int64_t d = layout_.n_features;
  std::vector<uint8_t> plain(static_cast<size_t>(d));
  for (int64_t j = 0; j < d; ++j) plain[j] = layout_.bits[j] == 1 && layout_.ignored[j] < 0;
  for (int64_t c = 0; c < centers_.n; ++c)
    for (int64_t j = 0; j < d; ++j)
      plain[j] &= static_cast<uint8_t>(static_cast<uint32_t>(centers_.codes[c * d + j]) <
                                       static_cast<uint32_t>(layout_.n_codes[j]));
  return plain;
}

int32_t SlicedCenters::value_of(int64_t center, int64_t feature) const {
  return centers_.matches_something(layout_, center, feature)
             ? centers_.code(layout_, center, feature)
             : -1;
}

SlicedCenters::Part SlicedCenters::part_of(int32_t feature) const {
  Part part{{feature}, 1, false, layout_.n_codes[feature] + 1, {}, {}};
  if (layout_.bits[feature] < 8) return part;
  std::vector<uint16_t> plane(static_cast<size_t>(part.n_planes));
  for (int64_t c = 0; c < centers_.n; ++c) plane[value_of(c, feature) + 1] = 1;
  for (int32_t value = -1; value < layout_.n_codes[feature]; ++value) {
    if (!plane[value + 1]) continue;
    plane[value + 1] = static_cast<uint16_t>(part.values.size());
    part.values.push_back(value);
  }
  for (int64_t c = 0; c < centers_.n; ++c) part.planes.push_back(plane[value_of(c, feature) + 1]);
  part.n_planes = static_cast<int64_t>(part.values.size());
  return part;
}

void SlicedCenters::find_parts() {
  const std::vector<uint8_t> plain = plain_binary();
  std::vector<int32_t> others;
  for (int32_t j = 0; j < layout_.n_features; ++j) {
    if (!plain[j]) {
      others.push_back(j);
      continue;
    }
    if (parts_.empty() || parts_.back().n_features == kTripleFeatures)
      parts_.push_back({{}, 0, true, kTriplePlanes, {}, {}});
    parts_.back().features[parts_.back().n_features++] = j;
  }
  for (const int32_t j : others) parts_.push_back(part_of(j));
}

void SlicedCenters::add_blocks() {
  const auto n_triples =
      std::count_if(parts_.begin(), parts_.end(), [](const Part& part) { return part.is_triple; });
  size_t first = 0;
  int64_t n_planes = 0;
  int64_t room = n_triples % kBlockTriples * kTriplePlanes;  // so that other blocks are full
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (i > first && n_planes + parts_[i].n_planes > room) {
      add_block(first, i);
      first = i;
      n_planes = 0;
      room = kBlockPlanes;
    }
    n_planes += parts_[i].n_planes;
  }
  add_block(first, parts_.size());
}

void SlicedCenters::add_block(size_t first, size_t last) {
  SlicedBlock block{};
  block.first_triple = static_cast<int64_t>(triples_.size());
  block.first_field = static_cast<int64_t>(fields_.size());
  int64_t n_planes = kNibbleValues;
  for (size_t i = first; i < last; ++i) {
    if (parts_[i].is_triple)
      triples_.push_back(triple_of(parts_[i]));
    else
      add_field(parts_[i]);
    n_planes += parts_[i].n_planes;
  }
  block.n_ones = static_cast<int64_t>(last - first);
  block.n_triples = static_cast<int64_t>(triples_.size()) - block.first_triple;
  block.n_fields = static_cast<int64_t>(fields_.size()) - block.first_field;
  most_planes_ = std::max(most_planes_, n_planes);
  blocks_.push_back(block);
  const int64_t n_addends = block.n_ones + block.n_triples;
  uint16_t* out = addends_.emplace_back(static_cast<size_t>(centers_.n * n_addends)).data();
  for (int64_t c = 0; c < centers_.n; ++c, out += n_addends)
    write_addends(c, first, last, out, out + block.n_ones);
}

Triple SlicedCenters::triple_of(const Part& part) const {
  Triple triple{{-1, -1, -1}};
  for (int i = 0; i < part.n_features; ++i)
    triple.bit[i] = layout_.byte[part.features[i]] * 8 + layout_.shift[part.features[i]];
  return triple;
}

void SlicedCenters::add_field(const Part& part) {
  const int32_t j = part.features[0];
  fields_.push_back({layout_.byte[j] * 8 + layout_.shift[j], layout_.bits[j], layout_.ignored[j],
                     static_cast<int32_t>(part.n_planes), static_cast<int64_t>(values_.size())});
  values_.insert(values_.end(), part.values.begin(), part.values.end());
}

int64_t SlicedCenters::field_plane(const Part& part, int64_t center) const {
  if (!part.planes.empty()) return part.planes[center];
  const int32_t value = value_of(center, part.features[0]);
  return value < 0 ? part.n_planes - 1 : value;
}

void SlicedCenters::write_addends(int64_t center, size_t first, size_t last, uint16_t* ones,
                                  uint16_t* twos) const {
  const int32_t* codes = centers_.codes + center * layout_.n_features;
  int64_t plane = 0;
  for (size_t i = first; i < last; ++i) {
    const Part& part = parts_[i];
    if (part.is_triple) {
      unsigned bits = 0;
      for (int b = 0; b < part.n_features; ++b)
        bits |= static_cast<unsigned>(codes[part.features[b]]) << b;
      *ones++ = offset(plane + std::popcount(bits) % 2);
      *twos++ = offset(plane + 2 + bits);
    } else {
      *ones++ = offset(plane + field_plane(part, center));
    }
    plane += part.n_planes;
  }
}

}  // namespace softmodes
