// Rows -> planes of bits -> planes of values, for one instruction set.
#include "isa/planes/slice.hpp"
#include "isa/planes/values.hpp"

namespace softmodes::SOFTMODES_ISA {

// The planes of kPieces x 16 bytes of the rows. A byte of a plane is of eight rows; those of byte
// 16 l + s go through lane l in turn s.
template <int kPieces>
static void slice_pieces(const uint8_t* rows, int64_t stride, uint8_t* planes) {
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

void slice_rows(const uint8_t* rows, int64_t stride, int64_t n_bytes, uint8_t* planes) {
  constexpr int64_t kLong = 64;  // bytes of rows that first-level caches hold only part of
  int64_t byte = 0;
  for (; stride >= kLong && byte + 16 < n_bytes; byte += 32)
    slice_pieces<2>(rows + byte, stride, planes + byte * 8 * kWidth);
  for (; byte < n_bytes; byte += 16)
    slice_pieces<1>(rows + byte, stride, planes + byte * 8 * kWidth);
}

// The planes of a triple: parity of the mismatches with centers of even and of odd parity, then
// whether two differ at least, by the center's three bits.
static void make_triple(const Triple& triple, const uint8_t* bits, uint8_t* out) {
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
static void make_few_bits(const Field& field, const uint8_t* bits, uint8_t* out) {
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
static V differ_from(const V (*nibbles)[kNibbleValues], int n_nibbles, int32_t value) {
  V differ = zero();
  for (int i = 0; i < n_nibbles; ++i) differ = or_(differ, nibbles[i][value >> (4 * i) & 15]);
  return differ;
}

static void make_bytes(const Field& field, const uint8_t* bits, const int32_t* values,
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

static void make_field(const Field& field, const uint8_t* rows, const int32_t* values,
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

void make_planes(const PlaneView& view, const PlaneSet& set, const uint8_t* bits, uint8_t* out) {
  for (int64_t i = 0; i < set.n_triples; ++i, out += kTriplePlanes * kWidth)
    make_triple(view.triples[set.first_triple + i], bits, out);
  const Field* field = view.fields + set.first_field;
  for (int64_t i = 0; i < set.n_fields; ++i, ++field) {
    make_field(*field, bits, view.values, out);
    out += int64_t{field->n_planes} * kWidth;
  }
}

}  // namespace softmodes::SOFTMODES_ISA
