// Checks of long arrays for the bindings, which are compiled for size and not for speed.
#pragma once

#include <cstdint>

namespace softmodes {

// Whether all numbers lie in 0 .. most.
bool are_within(const int32_t* numbers, int64_t n, int64_t most);
bool never_negative(const int32_t* numbers, int64_t n);
// Whether none is below the one before it.
bool never_fall(const int64_t* numbers, int64_t n);

}  // namespace softmodes
