// Operations made of and, or and xor, for instruction sets that have nothing faster. Included at
// the end of theirs.
#pragma once

namespace softmodes::SOFTMODES_ISA {

inline V parity(V a, V b, V c) { return xor_(xor_(a, b), c); }
inline V majority(V a, V b, V c) { return or_(and_(a, b), and_(xor_(a, b), c)); }
// sum + a + b: the sum in place, and the carry.
inline V full_adder(V& sum, V a, V b) {
  const V differ = xor_(a, b);
  const V carry = or_(and_(a, b), and_(differ, sum));
  sum = xor_(sum, differ);
  return carry;
}
inline V or_xor(V a, V b, V c) { return or_(a, xor_(b, c)); }
inline V select(V mask, V yes, V no) { return xor_(no, and_(mask, xor_(yes, no))); }

// transpose_bits with the bits of every byte in whatever order is fastest: last first?
constexpr bool kLastBitFirst = false;
inline V transpose_bits_fast(V x) { return transpose_bits(x); }

}  // namespace softmodes::SOFTMODES_ISA
