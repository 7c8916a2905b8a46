// Sums of floating point numbers that are rounded once, whatever their order.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace softmodes {

// By Shewchuk's partial sums, which do not overlap: their sum is that of the numbers.
class ExactSum {
 public:
  void add(const double* numbers, int64_t n);
  void add(const ExactSum& other) {
    add(other.partials_.data(), static_cast<int64_t>(other.partials_.size()));
  }
  // Half to even.
  double rounded() const;

 private:
  std::vector<double> partials_;
};

ExactSum exact_sum(const double* numbers, int64_t n, const Threads& threads);

}  // namespace softmodes
