#include "passes/powers.hpp"

#include <algorithm>
#include <cmath>

#include "centers/centers.hpp"
#include "rounds/prices.hpp"

namespace softmodes {

PowerTables::PowerTables(int resolution)
    : resolution_(std::max(resolution, -31)), limit_(share_limit(resolution)) {
  const int bits = std::max(resolution, 0);
  for (uint32_t i = 0; i < uint32_t{1} << bits; ++i) {
    double power = 1.0, root = 0.5;
    for (int bit = bits - 1; bit >= 0; --bit) {
      root = std::sqrt(root);
      if (i >> bit & 1) power *= root;
    }
    power_.push_back(static_cast<uint32_t>(std::floor(std::ldexp(power, 31) + 0.5)));
  }
  const auto log = [](int i) {
    return static_cast<uint32_t>(std::floor(std::ldexp(portable_log2(1.0 + i / 1024.0), 30) + 0.5));
  };
  for (int i = 0; i < 1024; ++i)
    log_.push_back(log(i) | static_cast<uint64_t>(log(i + 1) - log(i)) << 32);
}

}  // namespace softmodes
