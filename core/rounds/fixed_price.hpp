// A price in fixed point, and what rounding has raised it by.
#pragma once

#include <cstdint>

namespace softmodes {

constexpr int kRoundedBits = 15;  // of what rounding has raised a price by, behind the point

// `static`: each instruction set compiles its own copy, and the linker must not merge them.

// What std::floor gives for numbers of this size, without a call.
static inline int64_t whole_below(double x) {
  const auto whole = static_cast<int64_t>(x);
  return whole - (static_cast<double>(whole) > x);
}

// Of a price in units of its resolution.
static inline int64_t rounded_price(double price) { return whole_below(price + 0.5); }
// In units of 2^-kRoundedBits of those of the price.
static inline int16_t raised_by(double price, int64_t rounded) {
  constexpr double kRounded = 1 << kRoundedBits;
  return static_cast<int16_t>(whole_below((static_cast<double>(rounded) - price) * kRounded + 0.5));
}

// What prices, or a sum of them, were before rounding has raised them.
static inline double before_rounding(int64_t price, int64_t raised) {
  constexpr double kRounded = 1 << kRoundedBits;
  return static_cast<double>(price) - static_cast<double>(raised) / kRounded;
}

}  // namespace softmodes
