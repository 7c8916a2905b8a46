// Vector operations of the instruction set that this file is compiled for.
#pragma once

#define SOFTMODES_STRING_(x) #x
#define SOFTMODES_STRING(x) SOFTMODES_STRING_(x)
// clang-format off: the name of a file is no expression
#include SOFTMODES_STRING(isa/simd/SOFTMODES_ISA.hpp)
// clang-format on
