#include "plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace softmodes {
namespace {

constexpr int kDigitBits = 4;  // feature weights are compared digit by digit
constexpr uint32_t kDigits = (1u << kDigitBits) - 1;

int64_t ceil_to(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

int n_planes(uint64_t largest, uint64_t in_one) {
  if (largest <= in_one) return 1;
  int n = 0;
  for (; largest; largest >>= kDigitBits) ++n;
  return n;
}

uint32_t digit(uint64_t value, int plane, int planes) {
  return static_cast<uint32_t>(planes == 1 ? value : value >> (kDigitBits * plane) & kDigits);
}

}  // namespace

CenterPlan::CenterPlan(const Layout& layout, const Centers& centers, const Kernels& kernels,
                       Use use)
    : layout_(layout), centers_(centers) {
  plan_.n_centers = centers.n;
  plan_.tile_rows = kTileRows;
  plan_.group = kGroup;
  plan_.stride = layout.stride;
  plan_.wide_columns = layout.wide_bytes();
  for (int32_t c = 0; c < centers.n; ++c)
    clusters_.push_back(centers.clusters ? centers.clusters[c] : c);
  plan_.clusters = clusters_.data();
  plan_.by_rows = suits_rows(kernels);
  const bool many = centers.n >= kernels.sliced_centers && !plan_.by_rows;
  if ((use == Use::nearer || (use == Use::nearest && many)) &&
      SlicedCenters::can_hold(layout, centers)) {
    sliced_ = std::make_unique<SlicedCenters>(layout_, centers_, kernels.plane_rows);
    plan_.sliced = &sliced_->view();
    plan_.by_rows = false;
    plan_.tile_rows = kernels.plane_rows;
    plan_.group = centers.n;
    return;
  }
  if (plan_.by_rows) {
    plan_.distance_bytes = 4;
    pack_centers();
    return;
  }
  plan_.byte_columns = kernels.popcount && suits_popcount() ? layout_.bit_bytes : 0;
  plan_.nibble_columns = 2 * (layout_.nibble_end - plan_.byte_columns);
  add_bits();
  add_nibbles();
  add_wide();

  uint64_t largest = 0;
  for (int64_t j = 0; j < layout.n_features; ++j) largest += weight(j);
  if (largest >> 32) throw std::invalid_argument("feature_weight must sum to less than 2**32");
  const bool one_plane = std::all_of(segments_.begin(), segments_.end(),
                                     [](const Segment& s) { return s.shift == 0; });
  plan_.distance_bytes = largest <= 255 && one_plane ? 1 : largest <= 65535 ? 2 : 4;

  plan_.segments = segments_.data();
  plan_.n_segments = static_cast<int64_t>(segments_.size());
  plan_.ignored = ignored_.data();
  plan_.n_ignored = static_cast<int64_t>(ignored_.size());

  const int64_t n_quads = (centers.n + kQuad - 1) / kQuad;
  tables_ = Buffer(n_quads * plan_.quad_bytes);
  plan_.tables = tables_.data();
  for (int64_t c = 0; c < centers.n; ++c) {
    uint8_t* quad = tables_.data() + c / kQuad * plan_.quad_bytes;
    const int lane = static_cast<int>(c % kQuad);
    fill_bits(quad, lane, c);
    fill_nibbles(quad, lane, c);
    fill_wide(quad, lane, c);
  }
}

int64_t CenterPlan::tile_bytes() const {
  if (sliced_) return ceil_to(sliced_->view().n_bytes, 16) * plan_.tile_rows;
  return (plan_.byte_columns + plan_.nibble_columns + plan_.wide_columns + kSpareColumns) *
         kTileRows;
}

int64_t CenterPlan::distances_bytes() const {
  if (!sliced_) return int64_t{kGroup} * kTileRows * plan_.distance_bytes;
  return std::min<int64_t>(plan_.n_centers, kSlicedGroup) * sliced_->view().distance_bits *
         plan_.tile_rows / 8;
}

int64_t CenterPlan::planes_bytes() const {
  return sliced_ ? sliced_->most_planes() * plan_.tile_rows / 8 : 0;
}

// A popcount can express neither weights nor a center value that matches nothing.
bool CenterPlan::suits_popcount() const {
  bool suits = !centers_.feature_weight;
  for (int64_t j = 0; suits && j < layout_.n_features; ++j)
    if (layout_.byte[j] < layout_.bit_bytes)
      for (int64_t c = 0; suits && c < centers_.n; ++c) suits = matches_something(c, j);
  return suits;
}

bool CenterPlan::suits_rows(const Kernels& kernels) const {
  return centers_.n <= kernels.few_centers && layout_.bit_bytes >= kernels.long_row &&
         layout_.nibble_end == layout_.bit_bytes && !layout_.wide_bytes() && suits_popcount();
}

void CenterPlan::pack_centers() {
  center_rows_ = Buffer(centers_.n * layout_.stride);
  plan_.center_rows = center_rows_.data();
  for (int64_t c = 0; c < centers_.n; ++c)
    for (int64_t j = 0; j < layout_.n_features; ++j)
      center_rows_.data()[c * layout_.stride + layout_.byte[j]] |=
          static_cast<uint8_t>(center_code(c, j) << layout_.shift[j]);
}

void CenterPlan::add_segments(Kind kind, int shift, int64_t first_column, int64_t n_steps,
                              int columns_per_step, int step_bytes, int64_t largest) {
  if (!n_steps) return;
  // Segments of equal length: a short one at the end would cost as much as a long one.
  const int64_t at_most = 255 / std::max<int64_t>(largest, 1);
  const int64_t n_segments = (n_steps + at_most - 1) / at_most;
  for (int64_t i = 0; i < n_segments; ++i) {
    const int64_t from = n_steps * i / n_segments, to = n_steps * (i + 1) / n_segments;
    segments_.push_back({kind, static_cast<uint8_t>(shift),
                         static_cast<int32_t>(first_column + from * columns_per_step),
                         static_cast<int32_t>(to - from), plan_.quad_bytes + from * step_bytes});
  }
  plan_.quad_bytes += n_steps * step_bytes;
}

void CenterPlan::add_bits() {
  popcount_table_ = plan_.quad_bytes;
  add_segments(Kind::popcount, 0, 0, plan_.byte_columns, 1, kQuad * 4, 8);
}

void CenterPlan::add_nibbles() {
  const int64_t used = 2 * (layout_.bit_bytes - plan_.byte_columns) + layout_.n_nibbles;
  by_nibble_.resize(static_cast<size_t>(used));
  uint64_t largest = 0;
  for (int64_t j = 0; j < layout_.n_features; ++j) {
    const int64_t byte = layout_.byte[j] - plan_.byte_columns;
    if (layout_.bits[j] <= 4 && byte >= 0)
      by_nibble_[2 * byte + layout_.shift[j] / 4].push_back(static_cast<int32_t>(j));
  }
  for (const auto& features : by_nibble_) {
    uint64_t sum = 0;
    for (int32_t j : features) sum += weight(j);
    largest = std::max(largest, sum);
  }
  const int planes = n_planes(largest, kDigits);
  for (int p = 0; p < planes; ++p) {
    nibble_tables_.push_back(plan_.quad_bytes);
    add_segments(Kind::lookup, kDigitBits * p, plan_.byte_columns, used, 1, kQuad * 16,
                 planes == 1 ? static_cast<int64_t>(largest) : kDigits);
  }
}

void CenterPlan::add_wide() {
  const Kind kinds[] = {Kind::compare1, Kind::compare2, Kind::compare3};
  int64_t column = plan_.byte_columns + plan_.nibble_columns;
  auto feature = layout_.wide.begin();
  for (int size = 1; size <= 3; ++size) {
    const int64_t n = layout_.n_wide[size - 1];
    uint64_t largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t j = feature[i];
      largest = std::max<uint64_t>(largest, weight(j));
      plan_.base += weight(j);
      if (layout_.ignored[j] >= 0)
        ignored_.push_back({static_cast<int32_t>(column + i * size), size,
                            static_cast<uint32_t>(layout_.ignored[j]), weight(j)});
    }
    const int planes = n_planes(largest, kDigits);
    wide_tables_.emplace_back();
    for (int p = 0; p < planes; ++p) {
      wide_tables_.back().push_back(plan_.quad_bytes);
      add_segments(kinds[size - 1], kDigitBits * p, column, n, size, kQuad * 4 * (size + 1),
                   planes == 1 ? static_cast<int64_t>(largest) : kDigits);
    }
    column += n * size;
    feature += n;
  }
}

void CenterPlan::fill_bits(uint8_t* quad, int lane, int64_t center) const {
  auto* words = reinterpret_cast<uint32_t*>(quad + popcount_table_) + lane;
  for (int64_t j = 0; j < layout_.n_features; ++j)
    if (layout_.byte[j] < plan_.byte_columns && center_code(center, j) == 1)
      words[layout_.byte[j] * kQuad] |= 0x01010101u << layout_.shift[j];
}

void CenterPlan::fill_nibbles(uint8_t* quad, int lane, int64_t center) const {
  const int planes = static_cast<int>(nibble_tables_.size());
  for (size_t column = 0; column < by_nibble_.size(); ++column) {
    uint64_t mismatch[16] = {};
    for (int32_t j : by_nibble_[column]) {
      const int shift = layout_.shift[j] % 4, mask = (1 << layout_.bits[j]) - 1;
      const int32_t code = matches_something(center, j) ? center_code(center, j) : -1;
      for (int value = 0; value < 16; ++value) {
        const int32_t cell = value >> shift & mask;
        if (cell != code && cell != layout_.ignored[j]) mismatch[value] += weight(j);
      }
    }
    for (int p = 0; p < planes; ++p) {
      uint8_t* table = quad + nibble_tables_[p] + (column * kQuad + lane) * 16;
      for (int value = 0; value < 16; ++value)
        table[value] = static_cast<uint8_t>(digit(mismatch[value], p, planes));
    }
  }
}

void CenterPlan::fill_wide(uint8_t* quad, int lane, int64_t center) const {
  auto feature = layout_.wide.begin();
  for (int size = 1; size <= 3; ++size) {
    const auto& tables = wide_tables_[size - 1];
    const int planes = static_cast<int>(tables.size());
    for (int64_t i = 0; i < layout_.n_wide[size - 1]; ++i) {
      const int32_t j = *feature++;
      if (!matches_something(center, j)) continue;  // worth nothing
      const auto code = static_cast<uint32_t>(center_code(center, j));
      for (int p = 0; p < planes; ++p) {
        auto* words =
            reinterpret_cast<uint32_t*>(quad + tables[p]) + (i * kQuad + lane) * (size + 1);
        for (int b = 0; b < size; ++b) words[b] = (code >> (8 * b) & 255) * 0x01010101u;
        words[size] = digit(weight(j), p, planes) * 0x01010101u;
      }
    }
  }
}

}  // namespace softmodes
