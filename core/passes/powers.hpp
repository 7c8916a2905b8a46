// Tables of 2^-x and log2: made of additions, multiplications and square roots alone, so that they
// are the same on every machine.
#pragma once

#include "isa/kernels.hpp"

namespace softmodes {

constexpr int kMostResolution = 10;  // bits behind the point of a price that is a power

// Of powers of so many bits behind the point, kMostResolution at most: made once for all passes.
Powers powers_of(int resolution);

}  // namespace softmodes
