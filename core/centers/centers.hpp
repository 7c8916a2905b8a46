// What rows are compared with: codes, or scores. Another kind joins as a member of Centers::Kind
// and with a plan of its own (see plan.hpp).
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "layout/layout.hpp"

namespace softmodes {

// One code per center and feature: a row's distance is the weight of the features that differ.
struct CodeCenters {
  const int32_t* codes;            // n x n_features; a code that no cell can hold matches nothing
  const uint32_t* feature_weight;  // or null: all 1

  const int32_t* of(const Layout& layout, int64_t center) const {
    return codes + center * layout.n_features;
  }
  int32_t code(const Layout& layout, int64_t center, int64_t feature) const {
    return of(layout, center)[feature];
  }
  bool matches_something(const Layout& layout, int64_t center, int64_t feature) const {
    const int32_t value = code(layout, center, feature);
    return value >= 0 && value < layout.n_codes[feature] && value != layout.ignored[feature];
  }
  uint32_t weight(int64_t feature) const { return feature_weight ? feature_weight[feature] : 1; }
};

// What the values of a feature with many of them cost: usual[cluster] + shared[value] - bonus,
// where a bonus is listed by value for the clusters that have seen it.
struct SparsePrices {
  int64_t feature;
  const uint32_t* usual;
  const uint32_t* shared;
  const int64_t* indptr;  // by value: where its bonuses are; need not begin with 0
  const int32_t* clusters;
  const uint32_t* bonus;
};

// Whether no bonus of so many values is more than what it is taken off.
bool never_exceed(const SparsePrices& prices, int64_t n_values);

// A price per center, feature and value, in units of 2^-resolution: a row's total is what its cells
// cost, and the base. Cells that are no values cost nothing.
struct ScoreCenters {
  const uint32_t* prices;   // n x n_prices
  const uint32_t* base;     // per center
  const int64_t* offsets;   // per feature: of its values in the prices of a center
  const int32_t* n_values;  // per feature
  int64_t n_prices;
  int resolution;
  std::vector<SparsePrices> sparse;

  const uint32_t* of(int64_t center, int64_t feature) const {
    return prices + center * n_prices + offsets[feature];
  }
};

// What a total may exceed the least of a row by and still be a part of it, kPowerBits or less.
uint32_t share_limit(int resolution);

struct Centers {
  using Kind = std::variant<CodeCenters, ScoreCenters>;
  int64_t n;
  Kind kind;
  std::vector<int32_t> clusters;  // the numbers of these centers, ascending

  Centers(int64_t n_centers, Kind centers);
};

// Some of the centers, with memory of their own.
class ChosenCenters {
 public:
  ChosenCenters(const Layout& layout, const Centers& all, const std::vector<int32_t>& chosen);
  const Centers& view() const { return centers_; }

 private:
  std::vector<int32_t> codes_;
  Centers centers_;
};

}  // namespace softmodes
