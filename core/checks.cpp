#include "checks.hpp"

#include <algorithm>

namespace softmodes {

// Without branches: several at once.
bool are_within(const int32_t* numbers, int64_t n, int64_t most) {
  int32_t least = 0, largest = -1;
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, numbers[i]);
    largest = std::max(largest, numbers[i]);
  }
  return least >= 0 && largest <= most;
}

bool never_negative(const int32_t* numbers, int64_t n) {
  int32_t signs = 0;
  for (int64_t i = 0; i < n; ++i) signs |= numbers[i];
  return signs >= 0;
}

bool never_fall(const int64_t* numbers, int64_t n) {
  int falls = 0;
  for (int64_t i = 1; i < n; ++i) falls |= numbers[i] < numbers[i - 1];
  return !falls;
}

}  // namespace softmodes
