// A logarithm by additions, multiplications and divisions alone: the same on every machine, which
// that of the system's library is not.
#pragma once

#include <cstdint>
#include <cstring>

namespace softmodes {

// `static`: each instruction set compiles its own copy, and the linker must not merge them.

// x = m 2^e with m near 1, and ln m = 2 (z + z^3 / 3 + z^5 / 5 + ...) for z = (m - 1) / (m + 1).
// By integers as far as it goes, and without branches, so that compilers take several numbers at
// once.
static inline double log2_of(double x) {
  constexpr double kTwiceLog2E = 2.8853900817779268;
  constexpr int64_t kFraction = 0xfffffffffffff, kRootOfHalf = 0x6a09e667f3bcd;  // its fraction
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const int64_t fraction = bits & kFraction, low = fraction < kRootOfHalf;
  const auto exponent = static_cast<int32_t>((bits >> 52) - 1022 - low);
  bits = fraction | (1022 + low) << 52;
  double m;
  std::memcpy(&m, &bits, sizeof m);
  const double z = (m - 1.0) / (m + 1.0), square = z * z;  // below 0.0295
  double series = 1.0 / 19;
  for (int i = 17; i >= 1; i -= 2) series = series * square + 1.0 / i;
  return static_cast<double>(exponent) + kTwiceLog2E * z * series;
}

}  // namespace softmodes
