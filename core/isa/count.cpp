// Counts of the values of many rows by positional popcount.
#include "isa/kernels.hpp"
#include "isa/transpose.hpp"

namespace softmodes::SOFTMODES_ISA {

// Counts the set bits of every position of a stream of vectors in eight bit planes,
// by carry-save adders, 16 vectors at a time.
struct BitCounter {
  V plane[8];
  int n_added = 0;

  static constexpr int kFull = 15;  // times 16 vectors fit in 8 bits

  void clear() {
    for (int level = 0; level < 8; ++level) plane[level] = zero();
    n_added = 0;
  }

  V add2(V a, V b) { return full_adder(plane[0], a, b); }
  V add4(const V* x) {
    const V low = add2(x[0], x[1]), high = add2(x[2], x[3]);
    return full_adder(plane[1], low, high);
  }
  V add8v(const V* x) {
    const V low = add4(x), high = add4(x + 4);
    return full_adder(plane[2], low, high);
  }
  void add16v(const V* x) {
    const V low = add8v(x), high = add8v(x + 8);
    V carry = full_adder(plane[3], low, high);
    for (int level = 4; level < 8; ++level) {
      const V next = and_(plane[level], carry);
      plane[level] = xor_(plane[level], carry);
      carry = next;
    }
    ++n_added;
  }

  // Adds the counts to counters[0 .. 8 * kWidth), and starts anew.
  void flush(uint32_t* counters) {
    uint8_t counts[8 * kWidth];
    bytes_of_planes(plane, counts);
    for (int i = 0; i < 8 * kWidth; ++i) counters[i] += counts[i];
    clear();
  }
};

// Counts the bits of items 0 .. n of a stream.
template <class Stream>
static void count_bits(const Stream& stream, int64_t n, uint32_t* counters) {
  BitCounter counter;
  counter.clear();
  V x[16];
  for (int64_t i = 0; i < n; i += 16) {
    const int64_t full = n - i < 16 ? n - i : 16;
    if (full == 16) {
      for (int j = 0; j < 16; ++j) x[j] = stream(i + j);
    } else {
      for (int j = 0; j < 16; ++j) x[j] = j < full ? stream(i + j) : zero();
    }
    counter.add16v(x);
    if (counter.n_added == BitCounter::kFull) counter.flush(counters);
  }
  if (counter.n_added) counter.flush(counters);
}

struct Rows {
  const uint8_t* bytes;
  int64_t stride;
  const int32_t* order;
  int64_t n;
  const uint8_t* operator[](int64_t i) const { return bytes + order[i] * stride; }
  // Bytes of a row; asks for the next cache line of a long row, which nothing else foresees.
  const uint8_t* at(int64_t i, int64_t offset) const {
    const uint8_t* found = (*this)[i] + offset;
    prefetch(found + ahead, 1);
    return found;
  }
  int64_t ahead = stride > 64 ? 64 : 0;
};

// One vector of bytes of every row.
struct VectorStream {
  Rows rows;
  int64_t offset;
  V operator()(int64_t i) const { return load(rows.at(i, offset)); }
};

// One piece of as many rows as there are lanes.
struct PieceStream {
  Rows rows;
  int64_t offset;
  V operator()(int64_t i) const {
    static constexpr uint8_t nothing[16] = {};
    const uint8_t* lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const int64_t row = i * kLanes + lane;
      lanes[lane] = row < rows.n ? rows[row] + offset : nothing;
    }
    return load_lanes(lanes);
  }
};

// One piece of every row as 512 bits: of 32 nibbles, which of 16 values each has.
// Quarter q of the 64 bytes: low (q < 2) or high nibbles; values below 8 (q even) or from 8.
struct NibbleStream {
  Rows rows;
  int64_t offset;
  int64_t vector;  // which kWidth of the 64 bytes
  V operator()(int64_t i) const { return one_hot(rows.at(i, offset), static_cast<int>(vector)); }
};

// The same: of 16 bytes, which of kFewCodes values each has. Quarter q: values from 8 q.
struct ByteStream {
  Rows rows;
  int64_t offset;
  int64_t vector;
  V operator()(int64_t i) const {
    return one_hot_bytes(rows.at(i, offset), static_cast<int>(vector));
  }
};

static void count_plain(const CountShape& shape, const Rows& rows, uint32_t* counters) {
  int64_t piece = 0;
  for (; piece + kLanes <= shape.plain_pieces; piece += kLanes)
    count_bits(VectorStream{rows, piece * 16}, rows.n, counters + piece * 128);
  for (; piece < shape.plain_pieces; ++piece) {
    uint32_t by_lane[kWidth * 8] = {};
    count_bits(PieceStream{rows, piece * 16}, (rows.n + kLanes - 1) / kLanes, by_lane);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int bit = 0; bit < 128; ++bit) counters[piece * 128 + bit] += by_lane[lane * 128 + bit];
  }
}

template <class Stream>
static void count_pieces(const Rows& rows, int64_t begin, int64_t n_pieces, uint32_t* counters) {
  for (int64_t piece = 0; piece < n_pieces; ++piece)
    for (int64_t vector = 0; vector < 64 / kWidth; ++vector)
      count_bits(Stream{rows, begin + piece * 16, vector}, rows.n,
                 counters + piece * 512 + vector * kWidth * 8);
}

// Rows in turn go to four tables: those of one cluster often have the same value, and would wait
// for each other. For few rows that would not pay.
static void count_byte(const Rows& rows, ByteColumn column, uint32_t* counters) {
  const int64_t byte = column.byte;
  constexpr int64_t kFewRows = 1024;
  if (rows.n < kFewRows) {
    for (int64_t i = 0; i < rows.n; ++i) ++counters[rows[i][byte]];
    return;
  }
  uint32_t table[4][256] = {};
  int64_t i = 0;
  for (; i + 4 <= rows.n; i += 4)
    for (int j = 0; j < 4; ++j) ++table[j][rows[i + j][byte]];
  for (; i < rows.n; ++i) ++table[0][rows[i][byte]];
  for (int value = 0; value < column.n_codes; ++value)
    counters[value] += table[0][value] + table[1][value] + table[2][value] + table[3][value];
}

void count(const CountShape& shape, const uint8_t* bytes, const int32_t* order, int64_t n,
           uint32_t* counters) {
  const Rows rows{bytes, shape.stride, order, n};
  count_plain(shape, rows, counters);
  counters += shape.plain_pieces * 128;
  count_pieces<NibbleStream>(rows, shape.mixed_begin, shape.mixed_pieces, counters);
  counters += shape.mixed_pieces * 512;
  count_pieces<ByteStream>(rows, shape.few_begin, shape.few_pieces, counters);
  counters += shape.few_pieces * 512;
  for (int64_t i = 0; i < shape.n_bytes; counters += shape.bytes[i++].n_codes)
    count_byte(rows, shape.bytes[i], counters);
}

}  // namespace softmodes::SOFTMODES_ISA
