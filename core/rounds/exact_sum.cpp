#include "rounds/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "memory.hpp"

namespace softmodes {

void ExactSum::add(const double* numbers, int64_t n) {
  std::vector<double> partials = std::move(partials_);
  for (int64_t i = 0; i < n; ++i) {
    double x = numbers[i];
    size_t kept = 0;
    for (double y : partials) {
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y, low = y - (high - x);
      if (low != 0.0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  partials_ = std::move(partials);
}

double ExactSum::rounded() const {
  double high = 0.0, low = 0.0;
  size_t left = partials_.size();
  while (left && low == 0.0) {
    const double x = high, y = partials_[--left];
    high = x + y;
    low = y - (high - x);
  }
  // Half a unit that was dropped counts by the sign of what follows it.
  if (left &&
      ((low < 0.0 && partials_[left - 1] < 0.0) || (low > 0.0 && partials_[left - 1] > 0.0))) {
    const double twice = low * 2.0, up = high + twice;
    if (twice == up - high) high = up;
  }
  return high;
}

ExactSum exact_sum(const double* numbers, int64_t n, const Threads& threads) {
  constexpr int64_t kAtOnce = int64_t{1} << 15;
  ExactSum sum;
  std::mutex adding;
  run_tasks(ceil_div(n, kAtOnce), threads.at_most(n / kAtOnce), [&](int64_t i, int, const Stop&) {
    ExactSum own;
    own.add(numbers + i * kAtOnce, std::min(kAtOnce, n - i * kAtOnce));
    const std::lock_guard<std::mutex> lock(adding);
    sum.add(own);
  });
  return sum;
}

}  // namespace softmodes
