// Nearest centers by bit planes. Included by kernels.cpp only.
//
// A plane is one bit of each of kPlaneRows rows. Whether rows differ from a value of a feature is a
// plane; there are as many as centers have values, they are made once per tile, and a center is a
// list of them. To add up planes takes two operations each, by carry-save adders. Binary features
// go by threes: how many of the three differ is a number of two bits, that is two planes, out of
// two and eight that there can be.
#pragma once

#include <type_traits>

#include "nearest.hpp"

namespace softmodes::SOFTMODES_ISA {

constexpr int kPlaneRows = 8 * kWidth;

inline V ones() { return broadcast8(255); }
inline V not_(V a) { return xor_(a, ones()); }

// ------------------------------------------------------------------------- rows -> planes

// The planes of kPieces x 16 bytes of the rows. A byte of a plane is of eight rows; those of byte
// 16 l + s go through lane l in turn s.
template <int kPieces>
inline void slice_pieces(const uint8_t* rows, int64_t stride, uint8_t* planes) {
  V eights[kPieces][8][16];
  for (int turn = 0; turn < 16; ++turn)
    for (int piece = 0; piece < kPieces; ++piece) {
      V x[8];
      for (int i = 0; i < 8; ++i) {
        const int row = kLastBitFirst ? 7 - i : i;
        const uint8_t* lanes[kLanes];
        for (int lane = 0; lane < kLanes; ++lane)
          lanes[lane] = rows + (128 * lane + 8 * turn + row) * stride + 16 * piece;
        x[i] = load_lanes(lanes);
      }
      transpose8(x);
      for (int i = 0; i < 8; ++i) eights[piece][i][turn] = transpose_bits_fast(x[i]);
    }
  for (auto& piece : eights)
    for (auto& two_bytes : piece) {
      transpose16(two_bytes);
      for (int bit = 0; bit < 16; ++bit, planes += kWidth) store(planes, two_bytes[bit]);
    }
}

// Bit b of byte i of the rows becomes plane 8 i + b.
inline void slice_rows(const uint8_t* rows, int64_t stride, int64_t n_bytes, uint8_t* planes) {
  constexpr int64_t kLong = 64;  // bytes of rows that first-level caches hold only part of
  int64_t byte = 0;
  for (; stride >= kLong && byte + 16 < n_bytes; byte += 32)
    slice_pieces<2>(rows + byte, stride, planes + byte * 8 * kWidth);
  for (; byte < n_bytes; byte += 16)
    slice_pieces<1>(rows + byte, stride, planes + byte * 8 * kWidth);
}

// The planes of a triple: parity of the mismatches with centers of even and of odd parity, then
// whether two differ at least, by the center's three bits.
inline void make_triple(const Triple& triple, const uint8_t* bits, uint8_t* out) {
  V x[3][2];
  for (int i = 0; i < 3; ++i) {
    x[i][0] = triple.bit[i] < 0 ? zero() : load(bits + int64_t{triple.bit[i]} * kWidth);
    x[i][1] = not_(x[i][0]);
  }
  const V odd = parity(x[0][0], x[1][0], x[2][0]);
  store(out, odd);
  store(out + kWidth, not_(odd));
  for (int center = 0; center < 8; ++center)
    store(out + (2 + center) * kWidth,
          majority(x[0][center & 1], x[1][center >> 1 & 1], x[2][center >> 2]));
}

// For each value of kBits bits the plane of rows that have another one.
template <int kBits>
SOFTMODES_INLINE void decode(const uint8_t* bits, V (&differ)[1 << kBits]) {
  differ[0] = load(bits);
  differ[1] = not_(differ[0]);
  for (int b = 1; b < kBits; ++b) {
    const V x = load(bits + b * kWidth), not_x = not_(x);
    for (int value = 0; value < 1 << b; ++value) {
      differ[value | 1 << b] = or_(differ[value], not_x);
      differ[value] = or_(differ[value], x);
    }
  }
}

// Writes the planes of all values, even of those that are no codes: what follows overwrites them.
template <int kBits>
inline void make_few_bits(const Field& field, const uint8_t* bits, uint8_t* out) {
  V differ[1 << kBits];
  decode<kBits>(bits, differ);
  for (int value = 0; value < 1 << kBits; ++value) store(out + value * kWidth, differ[value]);
  uint8_t* nothing = out + (field.n_planes - 1) * kWidth;
  if (field.ignored < 0) {
    store(nothing, ones());
    return;
  }
  const V counts = load(out + field.ignored * kWidth);
  store(nothing, ones());
  for (int64_t i = 0; i < field.n_planes; ++i)
    store(out + i * kWidth, and_(load(out + i * kWidth), counts));
}

// The planes of rows that differ from one of a feature's values, nibble by nibble.
inline V differ_from(const V (*nibbles)[kNibbleValues], int n_nibbles, int32_t value) {
  V differ = zero();
  for (int i = 0; i < n_nibbles; ++i) differ = or_(differ, nibbles[i][value >> (4 * i) & 15]);
  return differ;
}

inline void make_bytes(const Field& field, const uint8_t* bits, const int32_t* values,
                       uint8_t* out) {
  V nibbles[6][kNibbleValues];
  const int n_nibbles = field.n_bits / 4;
  for (int i = 0; i < n_nibbles; ++i) decode<4>(bits + 4 * i * kWidth, nibbles[i]);
  const V counts = field.ignored < 0 ? ones() : differ_from(nibbles, n_nibbles, field.ignored);
  for (int64_t i = 0; i < field.n_planes; ++i) {
    const V differ = values[i] < 0 ? ones() : differ_from(nibbles, n_nibbles, values[i]);
    store(out + i * kWidth, and_(differ, counts));
  }
}

inline void make_field(const Field& field, const uint8_t* rows, const int32_t* values,
                       uint8_t* out) {
  const uint8_t* bits = rows + int64_t{field.first_bit} * kWidth;
  switch (field.n_bits) {
    case 1:
      return make_few_bits<1>(field, bits, out);
    case 2:
      return make_few_bits<2>(field, bits, out);
    case 3:
      return make_few_bits<3>(field, bits, out);
    case 4:
      return make_few_bits<4>(field, bits, out);
    default:
      return make_bytes(field, bits, values + field.first_value, out);
  }
}

inline void make_planes(const SlicedPlan& plan, const SlicedBlock& block, const uint8_t* bits,
                        uint8_t* out) {
  for (int64_t i = 0; i < block.n_triples; ++i, out += kTriplePlanes * kWidth)
    make_triple(plan.triples[block.first_triple + i], bits, out);
  const Field* field = plan.fields + block.first_field;
  for (int64_t i = 0; i < block.n_fields; ++i, ++field) {
    make_field(*field, bits, plan.values, out);
    out += int64_t{field->n_planes} * kWidth;
  }
}

// -------------------------------------------------------------------------- sums of planes

inline V plane_at(const uint8_t* planes, uint16_t offset) {
  return load(planes + 8 * int64_t{offset});
}

// Adds N planes, a power of two, to the lowest bits of a sum; returns the carry of weight N.
template <int N>
SOFTMODES_INLINE V add_planes(const uint8_t* planes, const uint16_t* offsets, V* sum) {
  if constexpr (N == 1) {
    return plane_at(planes, *offsets);
  } else {
    constexpr int level = std::countr_zero(unsigned{N}) - 1;
    const V a = add_planes<N / 2>(planes, offsets, sum);
    const V b = add_planes<N / 2>(planes, offsets + N / 2, sum);
    return full_adder(sum[level], a, b);
  }
}

// A number for every row, in planes. The loops are of fixed length: it is meant for registers.
template <int kBits>
struct Number {
  V bit[kBits];

  SOFTMODES_INLINE void clear() {
    for (auto& b : bit) b = zero();
  }
  SOFTMODES_INLINE void read(const uint8_t* p) {
    for (int b = 0; b < kBits; ++b) bit[b] = load(p + b * kWidth);
  }
  SOFTMODES_INLINE void write(uint8_t* p) const {
    for (int b = 0; b < kBits; ++b) store(p + b * kWidth, bit[b]);
  }

  // Adds n planes of weight 2^kShift, the smallest parts first: while the number is still zero,
  // their carries meet a bit that nothing has been added to.
  template <int kShift, bool kFromZero>
  SOFTMODES_INLINE void add(const uint8_t* planes, const uint16_t* offsets, int64_t n) {
    offsets = add_parts<kShift, kFromZero, 1>(planes, offsets, n);
    for (int64_t i = n / kLargestPart; i; --i, offsets += kLargestPart)
      add_part<kShift, kLargestPart>(planes, offsets);
  }

  template <int kOther>
  SOFTMODES_INLINE void add_doubled(const Number<kOther>& other) {
    V carry = zero();
    for (int b = 1; b < kBits; ++b)
      carry = full_adder(bit[b], b - 1 < kOther ? other.bit[b - 1] : zero(), carry);
  }

 private:
  static constexpr int kLargestPart = kBits >= 8 ? 64 : 32;

  template <int kShift, bool kFromZero, int N>
  SOFTMODES_INLINE const uint16_t* add_parts(const uint8_t* planes, const uint16_t* offsets,
                                             int64_t n) {
    if constexpr (N == kLargestPart) {
      return offsets;
    } else {
      if (n & N) {
        if constexpr (kFromZero)
          bit[kShift + std::countr_zero(unsigned{N})] =
              add_planes<N>(planes, offsets, bit + kShift);
        else
          add_part<kShift, N>(planes, offsets);
        offsets += N;
      }
      return add_parts<kShift, kFromZero, 2 * N>(planes, offsets, n);
    }
  }

  template <int kShift, int N>
  SOFTMODES_INLINE void add_part(const uint8_t* planes, const uint16_t* offsets) {
    V carry = add_planes<N>(planes, offsets, bit + kShift);
    for (int b = kShift + std::countr_zero(unsigned{N}); b < kBits; ++b) {
      const V next = and_(bit[b], carry);
      bit[b] = xor_(bit[b], carry);
      carry = next;
    }
  }
};

// Adds to the distance of a tile's rows to one center what a block of features makes of it.
template <int kBits>
SOFTMODES_INLINE void add_block(const SlicedBlock& block, bool first, const uint8_t* planes,
                                const uint16_t* addends, Number<kBits>& distance) {
  if (!first) {
    distance.template add<0, false>(planes, addends, block.n_ones);
    distance.template add<1, false>(planes, addends + block.n_ones, block.n_triples);
    return;
  }
  distance.clear();
  distance.template add<0, true>(planes, addends, block.n_ones);
  if (!block.n_triples) return;
  Number<kBits - 1> twos;
  twos.clear();
  twos.template add<0, true>(planes, addends + block.n_ones, block.n_triples);
  distance.add_doubled(twos);
}

// ------------------------------------------------------------------------- nearest center

struct Nearer {
  V lower, equal;  // which rows were nearer to a center than to all before, or as near
};

template <int kBits>
SOFTMODES_INLINE Nearer offer_center(const Number<kBits>& distance, V* lowest) {
  V lower = zero(), differ = zero();
  for (int b = 0; b < kBits; ++b) {
    lower = majority(not_(distance.bit[b]), lowest[b], lower);
    differ = or_xor(differ, distance.bit[b], lowest[b]);
  }
  for (int b = 0; b < kBits; ++b) lowest[b] = select(lower, distance.bit[b], lowest[b]);
  return {lower, not_(differ)};
}

// Numbers of n_bits planes, one for each row.
template <class T>
inline void unslice(const V* planes, int n_bits, int64_t n, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = 0;
  for (int first = 0; first < n_bits; first += 8) {
    V eight[8];
    for (int b = 0; b < 8; ++b) eight[b] = first + b < n_bits ? planes[first + b] : zero();
    uint8_t bytes[kPlaneRows];
    bytes_of_planes(eight, bytes);
    for (int64_t i = 0; i < n; ++i) out[i] |= static_cast<T>(T{bytes[i]} << first);
  }
}

// Calls visit(center, distance) for all centers.
template <int kBits, class Visit>
inline void compare_planes(const Plan& plan, const TileScratch& scratch, Ahead ahead,
                           const Visit& visit) {
  const SlicedPlan& sliced = *plan.sliced;
  for (int64_t first = 0; first < plan.n_centers; first += kSlicedGroup) {
    const int64_t left = plan.n_centers - first, n = left < kSlicedGroup ? left : kSlicedGroup;
    for (int64_t i = 0; i < sliced.n_blocks; ++i) {
      const SlicedBlock& block = sliced.blocks[i];
      make_planes(sliced, block, scratch.tile, scratch.planes);
      const uint16_t* addends = block.addends + first * block.n_addends();
      for (int64_t c = 0; c < n; ++c, addends += block.n_addends()) {
        uint8_t* kept = scratch.distances + c * kBits * kWidth;
        Number<kBits> distance;
        ahead.step();
        if (i) distance.read(kept);
        add_block(block, i == 0, scratch.planes, addends, distance);
        if (i + 1 == sliced.n_blocks)
          visit(first + c, distance);
        else
          distance.write(kept);
      }
    }
  }
}

// Calls f with the plan's number of bits, as a constant.
template <class F>
inline auto with_bits(const SlicedPlan& plan, const F& f) {
  switch (plan.distance_bits) {
    case 7:
      return f(std::integral_constant<int, 7>());
    case 8:
      return f(std::integral_constant<int, 8>());
    case 10:
      return f(std::integral_constant<int, 10>());
    case 12:
      return f(std::integral_constant<int, 12>());
    default:
      return f(std::integral_constant<int, kMostDistanceBits>());
  }
}

// Slices the rows of a tile; returns the next ones, to be fetched while these are compared.
inline Ahead start_tile(const Plan& plan, const uint8_t* rows, int64_t n_rows,
                        const TileScratch& scratch) {
  const uint8_t* whole = whole_tile(plan, rows, n_rows, scratch);
  slice_rows(whole, plan.stride, plan.sliced->n_bytes, scratch.tile);
  const int64_t bytes = kPlaneRows * plan.stride;
  const int64_t steps = plan.n_centers * plan.sliced->n_blocks;
  return {rows + bytes, bytes, (bytes / steps / 64 + 1) * 64};
}

// The lowest distances of a tile's rows, and what every center offered.
template <int kBits>
inline void offer_centers(const Plan& plan, const TileScratch& scratch, Ahead ahead, V* lowest,
                          Nearer* offers) {
  for (int b = 0; b < kBits; ++b) lowest[b] = ones();  // more than any distance
  compare_planes<kBits>(plan, scratch, ahead, [&](int64_t c, const Number<kBits>& distance) {
    offers[c] = offer_center(distance, lowest);
  });
}

// The centers that rows go to: the first and the last of the nearest, and whether there are more.
struct Choice {
  V first[kMostLabelBits], last[kMostLabelBits];
  V tied, more;
};

// From the last center to the first: a row stays open until the first center that is nearest.
inline void choose(const Nearer* offers, int64_t n, int n_bits, Choice& choice) {
  for (int b = 0; b < n_bits; ++b) choice.first[b] = choice.last[b] = zero();
  V open = ones(), once = zero();
  choice.tied = choice.more = zero();
  for (int64_t c = n; c--;) {
    const auto [lower, equal] = offers[c];
    const V nearest = and_(open, or_(lower, equal));
    if (!any_bit(nearest)) continue;
    const V first = and_(open, lower), last = and_(nearest, not_(once));
    choice.more = or_(choice.more, and_(choice.tied, nearest));
    choice.tied = or_(choice.tied, and_(once, nearest));
    once = or_(once, nearest);
    open = and_(open, not_(lower));
    for (int b = 0; b < n_bits; ++b) {
      if (!(c >> b & 1)) continue;
      choice.first[b] = or_(choice.first[b], first);
      choice.last[b] = or_(choice.last[b], last);
    }
  }
}

inline uint64_t word_of(const V& plane, int64_t i) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const uint8_t*>(&plane) + 8 * i, 8);
  return word;
}

// Gives rows that are tied between two centers to the one of the smaller rank.
inline void settle_two(const Choice& choice, int64_t n_rows, const Ranks& ranks,
                       const int32_t* last, int32_t* label) {
  int32_t rows[kPlaneRows];
  int64_t n = 0;
  for (int32_t word = 0; 64 * word < n_rows; ++word)
    n += list_bits(word_of(choice.tied, word), 64 * word, rows + n);
  while (n && rows[n - 1] >= n_rows) --n;
  settle_pairs(
      rows, n, ranks.ties.key, [&](int64_t row) { return ranks.row_number(row); }, ranks.clusters,
      last, label);
}

// Gives rows among 64 that are tied between more than two to the center of the smallest rank.
inline void settle_more(const Nearer* offers, int64_t n_centers, int64_t word, uint64_t rows,
                        const Ranks& ranks, int32_t* label) {
  const auto row_number = [&](int i) { return ranks.row_number(64 * word + i); };
  TieBreaker ties(rows, ranks.ties.key, row_number);
  uint64_t open = rows;
  for (int64_t c = n_centers; open && c--;) {
    const uint64_t lower = word_of(offers[c].lower, word);
    const uint64_t offered = (lower | word_of(offers[c].equal, word)) & open;
    if (offered) ties.offer(offered, ranks.clusters[c], static_cast<int>(c));
    open &= ~lower;
  }
  ties.write(label + 64 * word);
}

inline void settle_ties(const Nearer* offers, const Choice& choice, int64_t n_centers, int n_bits,
                        int64_t n_rows, const Ranks& ranks, int32_t* label) {
  int32_t last[kPlaneRows];
  unslice(choice.last, n_bits, kPlaneRows, last);
  settle_two(choice, n_rows, ranks, last, label);
  if (!any_bit(choice.more)) return;
  for (int64_t word = 0; 64 * word < n_rows; ++word) {
    uint64_t more = word_of(choice.more, word);
    if (n_rows - 64 * word < 64) more &= (uint64_t{1} << (n_rows - 64 * word)) - 1;
    if (more) settle_more(offers, n_centers, word, more, ranks, label);
  }
}

inline void nearest_sliced(const Plan& plan, const uint8_t* rows, int64_t n_rows,
                           int64_t global_row, Ties ties, const TileScratch& scratch,
                           uint32_t* distance, int32_t* label) {
  const Ahead ahead = start_tile(plan, rows, n_rows, scratch);
  V lowest[kMostDistanceBits];
  auto* offers = reinterpret_cast<Nearer*>(scratch.offers);
  with_bits(*plan.sliced,
            [&](auto bits) { offer_centers<bits.value>(plan, scratch, ahead, lowest, offers); });
  const int label_bits = std::bit_width(static_cast<uint64_t>(plan.n_centers - 1));
  Choice choice;
  choose(offers, plan.n_centers, label_bits, choice);
  unslice(lowest, plan.sliced->distance_bits, n_rows, distance);
  unslice(choice.first, label_bits, n_rows, label);
  if (ties.by_hash && any_bit(choice.tied))
    settle_ties(offers, choice, plan.n_centers, label_bits, n_rows,
                {ties, global_row, plan.clusters}, label);
}

// ------------------------------------------------------------------- rows nearer than before

// Numbers below 2^kBits as planes; those beyond as the largest, missing ones as 0.
template <int kBits>
inline void slice_numbers(const uint32_t* numbers, int64_t n, V* planes) {
  constexpr uint32_t largest = (1u << kBits) - 1;
  alignas(64) uint8_t rows[kPlaneRows * 16] = {}, bits[kPlaneRows * 16];
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t x = numbers[i] < largest ? numbers[i] : largest;
    rows[16 * i] = static_cast<uint8_t>(x);
    rows[16 * i + 1] = static_cast<uint8_t>(x >> 8);
  }
  slice_rows(rows, 16, 2, bits);
  for (int b = 0; b < kBits; ++b) planes[b] = load(bits + b * kWidth);
}

// Of many rows the distances are wanted as numbers at once, of few one by one.
template <int kBits>
inline Found* append_rows(int32_t center, const Number<kBits>& distance, V rows, Found* out) {
  constexpr int kWords = kWidth / 8, kMany = 12;
  uint64_t words[kWords], bits[kBits][kWords];
  std::memcpy(words, &rows, sizeof words);
  std::memcpy(bits, distance.bit, sizeof bits);
  int n = 0;
  unsigned filled = 0;  // which words: most have no bit, and would cost a branch gone wrong
  for (int word = 0; word < kWords; ++word) {
    n += std::popcount(words[word]);
    filled |= (words[word] ? 1u : 0u) << word;
  }
  uint16_t numbers[kPlaneRows];
  if (n >= kMany) unslice(distance.bit, kBits, kPlaneRows, numbers);
  for (; filled; filled &= filled - 1) {
    const int word = std::countr_zero(filled);
    for (uint64_t left = words[word]; left; left &= left - 1) {
      const int bit = std::countr_zero(left), row = 64 * word + bit;
      uint32_t d = 0;
      if (n >= kMany)
        d = numbers[row];
      else
        for (int b = 0; b < kBits; ++b) d |= static_cast<uint32_t>(bits[b][word] >> bit & 1) << b;
      *out++ = {center, row, d};
    }
  }
  return out;
}

template <int kBits>
inline int64_t nearer_as(const Plan& plan, int64_t n_rows, const uint32_t* current,
                         const TileScratch& scratch, Ahead ahead, Found* found) {
  V before[kBits];
  slice_numbers<kBits>(current, n_rows, before);
  Found* end = found;
  compare_planes<kBits>(plan, scratch, ahead, [&](int64_t c, const Number<kBits>& distance) {
    V lower = zero();
    for (int b = 0; b < kBits; ++b) lower = majority(not_(distance.bit[b]), before[b], lower);
    if (any_bit(lower)) end = append_rows(static_cast<int32_t>(c), distance, lower, end);
  });
  return end - found;
}

inline int64_t nearer(const Plan& plan, const uint8_t* rows, int64_t n_rows,
                      const uint32_t* current, const TileScratch& scratch, Found* found) {
  const Ahead ahead = start_tile(plan, rows, n_rows, scratch);
  return with_bits(*plan.sliced, [&](auto bits) {
    return nearer_as<bits.value>(plan, n_rows, current, scratch, ahead, found);
  });
}

// ----------------------------------------------------------------------------------------

inline void nearest(const Plan& plan, const uint8_t* rows, int64_t n_rows, int64_t first,
                    int64_t global_row, Ties ties, const TileScratch& scratch, uint32_t* distance,
                    int32_t* label) {
  if (plan.sliced)
    nearest_sliced(plan, rows, n_rows, global_row, ties, scratch, distance, label);
  else
    nearest_in_tile(plan, rows, n_rows, first, global_row, ties, scratch, distance, label);
}

}  // namespace softmodes::SOFTMODES_ISA
