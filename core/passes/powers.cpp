#include "passes/powers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "centers/centers.hpp"
#include "rounds/prices.hpp"

namespace softmodes {
namespace {

std::vector<uint32_t> powers_of_bits(int bits) {
  std::vector<uint32_t> powers;
  for (uint32_t i = 0; i < uint32_t{1} << bits; ++i) {
    double power = 1.0, root = 0.5;
    for (int bit = bits - 1; bit >= 0; --bit) {
      root = std::sqrt(root);
      if (i >> bit & 1) power *= root;
    }
    powers.push_back(static_cast<uint32_t>(std::floor(std::ldexp(power, 31) + 0.5)));
  }
  return powers;
}

std::vector<uint64_t> logarithms() {
  const auto log = [](int i) {
    return static_cast<uint32_t>(std::floor(std::ldexp(portable_log2(1.0 + i / 1024.0), 30) + 0.5));
  };
  std::vector<uint64_t> logs;
  for (int i = 0; i < 1024; ++i)
    logs.push_back(log(i) | static_cast<uint64_t>(log(i + 1) - log(i)) << 32);
  return logs;
}

struct Tables {
  Tables() : logs(logarithms()) {
    for (int bits = 0; bits <= kMostResolution; ++bits) powers[bits] = powers_of_bits(bits);
  }
  std::array<std::vector<uint32_t>, kMostResolution + 1> powers;
  std::vector<uint64_t> logs;
};

}  // namespace

Powers powers_of(int resolution) {
  static const Tables tables;  // to make them takes longer than to share a thousand rows
  return {std::max(resolution, -31), share_limit(resolution),
          tables.powers[std::max(resolution, 0)].data(), tables.logs.data()};
}

}  // namespace softmodes
