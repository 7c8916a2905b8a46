// The planes of a set of features: which rows differ from each of its values.
#pragma once

#include "isa/kernels.hpp"

namespace softmodes::SOFTMODES_ISA {

// `bits`: the planes of the rows' bits (see slice_rows).
void make_planes(const PlaneView& view, const PlaneSet& set, const uint8_t* bits, uint8_t* out);

}  // namespace softmodes::SOFTMODES_ISA
