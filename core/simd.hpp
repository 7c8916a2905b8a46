// Vector operations of the instruction set that this file is compiled for.
#pragma once

#define SOFTMODES_STRING_(x) #x
#define SOFTMODES_STRING(x) SOFTMODES_STRING_(x)
#include SOFTMODES_STRING(simd/SOFTMODES_ISA.hpp)
