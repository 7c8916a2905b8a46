// What rows are compared with. Codes are the first kind of centers; another kind joins as a member
// of Centers::Kind and with a plan of its own (see plan.hpp).
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

struct Centers {
  using Kind = std::variant<CodeCenters>;
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
