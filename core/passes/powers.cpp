#include "passes/powers.hpp"

#include <algorithm>
#include <cmath>

#include "rounds/prices.hpp"

namespace softmodes {

// So many bits more, and a power is 0: too little for a part of a row.
static uint32_t limit_of(int resolution) {
  if (resolution >= 0) return static_cast<uint32_t>(kPowerBits) << resolution;
  return (static_cast<uint32_t>(kPowerBits - 1) >> std::min(-resolution, 31)) + 1;
}

PowerTables::PowerTables(int resolution)
    : resolution_(std::max(resolution, -31)), limit_(limit_of(resolution)) {
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
