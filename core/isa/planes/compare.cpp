// Centers compared with a tile's rows by planes, for one instruction set.
#include "isa/planes/compare.hpp"

#include "isa/planes/number.hpp"
#include "isa/planes/values.hpp"

namespace softmodes::SOFTMODES_ISA {

template <int kBits>
SOFTMODES_INLINE void answer(int64_t center, const Number<kBits>& distance, Question& question) {
  V* lowest = question.lowest;
  V lower = zero(), differ = zero();
  for (int b = 0; b < kBits; ++b) lower = majority(not_(distance.bit[b]), lowest[b], lower);
  if (!question.offers) {
    if (!any_bit(lower)) return;
    Number<kBits> copy = distance;  // whose address may be known: the number stays in registers
    question.found =
        append_rows(static_cast<int32_t>(center), copy.bit, kBits, lower, question.found);
    return;
  }
  for (int b = 0; b < kBits; ++b) {
    differ = or_xor(differ, distance.bit[b], lowest[b]);
    lowest[b] = select(lower, distance.bit[b], lowest[b]);
  }
  question.offers[center] = {lower, not_(differ)};
}

template <int kBits>
static void compare_as(const PlaneView& view, const Scratch& scratch, Ahead ahead,
                       Question& asked) {
  Question question = asked;  // whose address nobody knows
  for (int64_t first = 0; first < view.n_centers; first += kPlaneGroup) {
    const int64_t left = view.n_centers - first, n = left < kPlaneGroup ? left : kPlaneGroup;
    for (int64_t i = 0; i < view.n_sets; ++i) {
      const PlaneSet& set = view.sets[i];
      make_planes(view, set, scratch.tile, scratch.planes);
      const uint16_t* addends = set.addends + first * set.n_addends();
      for (int64_t c = 0; c < n; ++c, addends += set.n_addends()) {
        uint8_t* kept = scratch.distances + c * kBits * kWidth;
        Number<kBits> distance;
        ahead.step();
        if (i) distance.read(kept);
        add_set(set, i == 0, scratch.planes, addends, distance);
        if (i + 1 == view.n_sets)
          answer(first + c, distance, question);
        else
          distance.write(kept);
      }
    }
  }
  asked.found = question.found;
}

void compare_planes(const PlaneView& view, const Scratch& scratch, Ahead ahead,
                    Question& question) {
  switch (view.distance_bits) {
    case 7:
      return compare_as<7>(view, scratch, ahead, question);
    case 8:
      return compare_as<8>(view, scratch, ahead, question);
    case 10:
      return compare_as<10>(view, scratch, ahead, question);
    case 12:
      return compare_as<12>(view, scratch, ahead, question);
    default:
      return compare_as<kMostDistanceBits>(view, scratch, ahead, question);
  }
}

}  // namespace softmodes::SOFTMODES_ISA
