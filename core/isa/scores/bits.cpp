// Parts of rows added to sums by bit, where counting bits counts codes: one addition under a mask
// for 16 bits of a row. For AVX-512; by lines it takes as many additions as the row has nibbles.
#include "isa/scores/lines.hpp"

namespace softmodes::SOFTMODES_ISA {

#if defined(__AVX512F__)

// N vectors of sums, kept in registers while all parts pass.
template <int N>
static void add_some_bits(const uint8_t* rows, int64_t stride, const RowPart* parts, int64_t n,
                          uint32_t* sums) {
  constexpr int64_t kAhead = 8;  // rows that are fetched meanwhile
  V sum[N];
  for (int v = 0; v < N; ++v) sum[v] = Wide::load(sums + v * 16);
  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) prefetch(rows + parts[i + kAhead].row * stride, 1);
    const uint8_t* row = rows + parts[i].row * stride;
    const V part = Wide::broadcast(parts[i].part);
    for (int v = 0; v < N; ++v) {
      uint16_t bits;
      std::memcpy(&bits, row + 2 * v, 2);
      sum[v] = _mm512_mask_add_epi32(sum[v], bits, sum[v], part);
    }
  }
  for (int v = 0; v < N; ++v) Wide::store(sums + v * 16, sum[v]);
}

void add_bit_parts(const uint8_t* rows, int64_t stride, int64_t n_bits, const RowPart* parts,
                   int64_t n, uint32_t* sums) {
  for (int64_t bit = 0; bit < n_bits; bit += kMostVectors * 16)
    with_count((n_bits - bit + 15) / 16, [&](auto vectors) {
      add_some_bits<vectors>(rows + bit / 8, stride, parts, n, sums + bit);
    });
}

#else

void add_bit_parts(const uint8_t*, int64_t, int64_t, const RowPart*, int64_t, uint32_t*) {}

#endif

}  // namespace softmodes::SOFTMODES_ISA
