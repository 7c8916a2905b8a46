// A price in fixed point, and what rounding has raised it by.
#pragma once

#include <cstdint>

#include "rounds/prices.hpp"

namespace softmodes {

// What std::floor gives for numbers of this size, without a call.
inline int64_t whole_below(double x) {
  const auto whole = static_cast<int64_t>(x);
  return whole - (static_cast<double>(whole) > x);
}

struct FixedPrice {
  explicit FixedPrice(double price) : scaled(price), whole(whole_below(price + 0.5)) {}
  // In units of 2^-kRoundedBits of those of the price.
  int16_t raised() const {
    constexpr double kRounded = 1 << kRoundedBits;
    return static_cast<int16_t>(
        whole_below((static_cast<double>(whole) - scaled) * kRounded + 0.5));
  }

  double scaled;
  int64_t whole;
};

// What prices, or a sum of them, were before rounding has raised them.
inline double before_rounding(int64_t price, int64_t raised) {
  constexpr double kRounded = 1 << kRoundedBits;
  return static_cast<double>(price) - static_cast<double>(raised) / kRounded;
}

}  // namespace softmodes
