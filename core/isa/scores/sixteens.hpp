// Up to four clusters and nibbles only: sixteen rows at a time, and sums of parts by products.
//
// Rows of a tile are transposed into columns of bytes. Prices of the 16 values of a nibble fill one
// vector, so that sixteen rows are looked up at once. They are above those of the first cluster,
// whose totals follow from how often each code occurs.
//
// Parts are counted code by code. A mark tells by one look-up which of 64 rows hold a code, and one
// instruction multiplies these bits by bytes and adds four products to each sum of 32 bits. A part
// of up to 2^16 is its two lower bytes and, for the 17th bit, a bit of a third one: that byte is
// two digits of 7 bits, and counts the rows as well. It is a sum of few enough rows for neither
// digit to overflow. The first cluster has what the others leave of these rows.
#pragma once

#include "isa/scores/least.hpp"
#include "isa/transpose.hpp"

#if defined(__AVX512VNNI__)

namespace softmodes::SOFTMODES_ISA {

constexpr int kSixteen = 16;
constexpr int kBlockRows = kWidth;  // a byte each
constexpr int kGroups = kBlockRows / kSixteen;
static_assert(kMostSixteenRows / kBlockRows * 4 < 1 << kRowBits, "4 rows to a sum");

// Columns of rows, the last ones filled up with zeros: byte i of row r is at columns[i * step + r].
static void transpose_rows(const LineShape& shape, const TileRows& rows, int64_t step,
                           uint8_t* columns) {
  V column[16];
  uint8_t last[kBlockRows * 16];
  for (int64_t r = 0; r < rows.n; r += kBlockRows)
    for (int64_t first = 0; first < shape.narrow_bytes; first += 16) {
      const uint8_t* from = rows.bytes + r * shape.stride + first;
      if (rows.n - r >= kBlockRows) {
        load_columns(from, shape.stride, column);
      } else {
        std::memset(last, 0, sizeof last);
        for (int64_t i = 0; i < rows.n - r; ++i)
          std::memcpy(last + i * 16, from + i * shape.stride, 16);
        load_columns(last, 16, column);
      }
      const int64_t n = shape.narrow_bytes - first < 16 ? shape.narrow_bytes - first : 16;
      for (int64_t i = 0; i < n; ++i) store(columns + (first + i) * step + r, column[i]);
    }
}

// at[c]: by row, what cluster c costs above the first one, which may be less than nothing.
template <int K>
struct Sixteen {
  V at[K];
};

template <int K>
SOFTMODES_INLINE void sum_block(const SixteenView& view, const uint8_t* columns,
                                Sixteen<K> (&above)[kGroups]) {
  for (auto& sixteen : above)
    for (int c = 0; c < K; ++c) sixteen.at[c] = _mm512_set1_epi32(c ? view.start[c - 1] : 0);
  const int32_t* prices = view.prices;
  for (int64_t i = 0; i < view.n_bytes; ++i, columns += view.tile_rows) {
    V low[K], high[K];
    for (int c = 1; c < K; ++c) {
      low[c] = _mm512_loadu_si512(prices);
      high[c] = _mm512_loadu_si512(prices + kSixteen);
      prices += 2 * kSixteen;
    }
    for (int g = 0; g < kGroups; ++g) {
      const V x = _mm512_cvtepu8_epi32(load_lane(columns + g * kSixteen));
      const V y = _mm512_srli_epi32(x, 4);  // look-ups leave the upper bits alone
      for (int c = 1; c < K; ++c) {
        above[g].at[c] = _mm512_add_epi32(above[g].at[c], _mm512_permutexvar_epi32(x, low[c]));
        above[g].at[c] = _mm512_add_epi32(above[g].at[c], _mm512_permutexvar_epi32(y, high[c]));
      }
    }
  }
}

// The cheapest cluster of each row.
template <int K>
struct NearestSixteen {
  V least;
  __mmask16 equal[K];  // clusters that cost the least
  __mmask16 best[K];   // the one of them that the row belongs to
  __mmask16 tied = 0;

  explicit NearestSixteen(const Sixteen<K>& above) : least(above.at[0]) {
    for (int c = 1; c < K; ++c) least = _mm512_min_epi32(least, above.at[c]);
    __mmask16 any = 0;
    for (int c = 0; c < K; ++c) {
      equal[c] = _mm512_cmpeq_epi32_mask(above.at[c], least);
      best[c] = static_cast<__mmask16>(equal[c] & ~any);
      tied = static_cast<__mmask16>(tied | (equal[c] & any));
      any = static_cast<__mmask16>(any | equal[c]);
    }
  }

  // Rows from `row` on, of which some are tied.
  void settle(__mmask16 rows, int64_t row, const Ranks& ranks) {
    for (uint64_t left = bits_of(rows); left; left &= left - 1) {
      const int r = std::countr_zero(left);
      BestRank winner(ranks, row + r);
      for (int c = 0; c < K; ++c)
        if (bits_of(equal[c]) >> r & 1) winner.offer(c);
      for (int c = 0; c < K; ++c) {
        const auto bit = static_cast<__mmask16>(1 << r);
        best[c] = static_cast<__mmask16>(winner.best() == c ? best[c] | bit : best[c] & ~bit);
      }
    }
  }
};

inline V join(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
inline __m256i half(V x, int i) {
  return i ? _mm512_extracti64x4_epi64(x, 1) : _mm512_castsi512_si256(x);
}

// As fixed_log, from the bits of whole numbers in doubles.
SOFTMODES_INLINE V fixed_logs(const Powers& powers, __m512d sum) {
  const V bits = _mm512_castpd_si512(sum);
  const V i = _mm512_and_si512(_mm512_srli_epi64(bits, 42), broadcast_word(1023));
  const V rest = _mm512_and_si512(_mm512_srli_epi64(bits, 26), broadcast_word(65535));
  const V found = _mm512_i64gather_epi64(i, powers.log, 8);
  const V low = _mm512_and_si512(found, broadcast_word(0xffffffff));
  const V fraction =
      add64(_mm512_slli_epi64(low, 16), _mm512_mul_epu32(_mm512_srli_epi64(found, 32), rest));
  const V exponent = _mm512_sub_epi64(_mm512_srli_epi64(bits, 52), broadcast_word(1023 + 31));
  return add64(_mm512_slli_epi64(exponent, kLogBits), _mm512_srli_epi64(fraction, 26));
}

// What sixteen rows give to their K clusters, and the logarithms of their sums of powers. As
// SharesOfFour: other j is cluster j before the best, and j + 1 from there on.
template <int K>
struct SharesOfSixteen {
  V part[K];
  V log[2];

  SOFTMODES_INLINE SharesOfSixteen(const Sixteen<K>& above, const NearestSixteen<K>& nearest,
                                   const Powers& powers) {
    const V mask = _mm512_set1_epi32((1 << powers.resolution) - 1);
    const __m128i shift = _mm_cvtsi32_si128(powers.resolution);
    const V limit = _mm512_set1_epi32(static_cast<int>(powers.limit));
    __mmask16 after[K];  // whether other j comes after the best
    __m512d w[K][2], sum[2];
    for (auto& some : sum) some = _mm512_set1_pd(2147483648.0);
    for (int j = 0; j < K - 1; ++j) {
      after[j] = static_cast<__mmask16>(j ? after[j - 1] | nearest.best[j] : nearest.best[0]);
      const V total = _mm512_mask_mov_epi32(above.at[j], after[j], above.at[j + 1]);
      const V difference = _mm512_sub_epi32(total, nearest.least);
      const __mmask16 near = _mm512_cmplt_epi32_mask(difference, limit);
      const V found = _mm512_i32gather_epi32(_mm512_and_si512(difference, mask), powers.power, 4);
      const V power = _mm512_maskz_srlv_epi32(near, found, _mm512_srl_epi32(difference, shift));
      for (int i = 0; i < 2; ++i) {
        w[j][i] = _mm512_cvtepu32_pd(half(power, i));
        sum[i] = _mm512_add_pd(sum[i], w[j][i]);
      }
    }
    const __m512d whole = _mm512_set1_pd(1 << kPartBits);
    V rest = _mm512_set1_epi32(1 << kPartBits), other[K];
    for (int j = 0; j < K - 1; ++j) {
      __m256i quotient[2];
      for (int i = 0; i < 2; ++i)
        quotient[i] = _mm512_cvttpd_epi32(_mm512_div_pd(_mm512_mul_pd(w[j][i], whole), sum[i]));
      other[j] = join(quotient[0], quotient[1]);
      rest = _mm512_sub_epi32(rest, other[j]);
    }
    other[K - 1] = rest;
    for (int c = 0; c < K; ++c) {
      part[c] = c ? _mm512_mask_mov_epi32(other[c], after[c - 1], other[c - 1]) : other[0];
      part[c] = _mm512_mask_mov_epi32(part[c], nearest.best[c], rest);
    }
    for (int i = 0; i < 2; ++i) log[i] = fixed_logs(powers, sum[i]);
  }
};

// Bytes of the parts of clusters from the second on: the lower two of each, and then pairs of
// digits. The first one counts rows, the others those that belong to such a cluster alone.
template <int K>
struct PartBytes {
  static constexpr int kPairs = (K + 1) / 2;
  static constexpr int kCount = 2 * (K - 1) + kPairs;

  // part[c] are 0 where there is no row.
  static void write(const V (&part)[K], __mmask16 rows, int64_t step, uint8_t* bytes) {
    V digits[2 * kPairs];
    digits[0] = _mm512_maskz_set1_epi32(rows, 1);
    for (int c = 1; c < 2 * kPairs; ++c)
      digits[c] = c < K ? _mm512_srli_epi32(part[c % K], kPartBits) : zero();
    for (int c = 1; c < K; ++c, bytes += 2 * step) {
      store_bytes(part[c], bytes);
      store_bytes(_mm512_srli_epi32(part[c], 8), bytes + step);
    }
    for (int i = 0; i < kPairs; ++i, bytes += step)
      store_bytes(_mm512_or_si512(digits[2 * i], _mm512_slli_epi32(digits[2 * i + 1], kRowBits)),
                  bytes);
  }
  static void store_bytes(V x, uint8_t* bytes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), _mm512_cvtepi32_epi8(x));
  }
};

// Sums over rows, in every lane those of some.
template <int K>
struct SixteenSums {
  V sizes[K];    // parts of clusters from the second on
  V below, log;  // 64 bits: what the least is below the first cluster's
  SixteenSums() : below(zero()), log(zero()) {
    for (V& size : sizes) size = zero();
  }
};

// The first n of sixteen rows.
inline __mmask16 first_rows(int64_t n) {
  if (n >= kSixteen) return 0xffff;
  return static_cast<__mmask16>(n > 0 ? (1 << n) - 1 : 0);
}

template <int K>
static void share_tile(const SixteenView& sixteens, const Powers& powers, int64_t first, int64_t n,
                       const Ranks& ranks, const uint8_t* columns, uint8_t* bytes,
                       SixteenSums<K>& sums) {
  for (int64_t r = 0; r < n; r += kBlockRows) {
    Sixteen<K> above[kGroups];
    sum_block<K>(sixteens, columns + r, above);
    for (int g = 0; g < kGroups; ++g) {
      const int64_t row = r + g * kSixteen;
      const __mmask16 rows = first_rows(n - row);
      NearestSixteen<K> nearest(above[g]);
      if ((nearest.tied & rows) && ranks.ties.by_hash)
        nearest.settle(static_cast<__mmask16>(nearest.tied & rows), first + row, ranks);
      SharesOfSixteen<K> shares(above[g], nearest, powers);
      const V below = _mm512_maskz_sub_epi32(rows, zero(), nearest.least);
      for (int i = 0; i < 2; ++i) {
        sums.below = add64(sums.below, _mm512_cvtepu32_epi64(half(below, i)));
        const auto some = static_cast<__mmask8>(rows >> (8 * i));
        sums.log = _mm512_mask_add_epi64(sums.log, some, sums.log, shares.log[i]);
      }
      for (int c = 1; c < K; ++c) {
        shares.part[c] = _mm512_maskz_mov_epi32(rows, shares.part[c]);
        sums.sizes[c] = _mm512_add_epi32(sums.sizes[c], shares.part[c]);
      }
      PartBytes<K>::write(shares.part, rows, sixteens.tile_rows, bytes + row);
    }
  }
}

// Sums of the numbers of four vectors.
inline __m128i sums_of_four(const V (&x)[4]) {
  const V a =
      _mm512_add_epi32(_mm512_unpacklo_epi32(x[0], x[1]), _mm512_unpackhi_epi32(x[0], x[1]));
  const V b =
      _mm512_add_epi32(_mm512_unpacklo_epi32(x[2], x[3]), _mm512_unpackhi_epi32(x[2], x[3]));
  const V c = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m256i d = _mm256_add_epi32(half(c, 0), half(c, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1));
}

// Sums over the rows of a tile that hold the codes of N marks of a column: their number, then the
// parts of clusters from the second on. Inlined, the sums would not stay in registers.
template <int K, int N>
[[gnu::noinline]] static void sum_marks(const CodeMark* marks, const uint8_t* column, bool high,
                                        int64_t n, const uint8_t* bytes, int64_t step,
                                        uint32_t (*out)[4]) {
  using Bytes = PartBytes<K>;
  V sum[N][Bytes::kCount];
  for (auto& some : sum)
    for (V& x : some) x = zero();
  for (int64_t r = 0; r < n; r += kBlockRows) {
    const V x = load(column + r), nibbles = high ? high_nibbles(x) : low_nibbles(x);
    V holds[N];
    for (int m = 0; m < N; ++m) holds[m] = lookup(broadcast_lane(marks[m].holds), nibbles);
    for (int i = 0; i < Bytes::kCount; ++i) {
      const V y = load(bytes + i * step + r);
      for (int m = 0; m < N; ++m) sum[m][i] = _mm512_dpbusd_epi32(sum[m][i], y, holds[m]);
    }
  }
  for (int m = 0; m < N; ++m) {
    const V digit = _mm512_set1_epi32((1 << kRowBits) - 1);
    V all[4];
    for (int c = 0; c < 4; ++c) {
      if (c >= K) {
        all[c] = zero();
        continue;
      }
      const V pair = sum[m][2 * (K - 1) + c / 2];
      all[c] = c % 2 ? _mm512_srli_epi32(pair, kRowBits) : _mm512_and_si512(pair, digit);
      if (!c) continue;
      const V upper = add_numbers32(sum[m][2 * c - 1], _mm512_slli_epi32(all[c], 8));
      all[c] = add_numbers32(sum[m][2 * c - 2], _mm512_slli_epi32(upper, 8));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out[m]), sums_of_four(all));
  }
}

// Adds what rows that hold a code give to its line, and takes it from the first line of the column:
// modulo 2^32, and so that all lines with a code have its sum together. Returns what these rows
// cost in the first cluster above rows with the first code.
template <int K>
static int64_t add_mark(const ScoreView& view, const CodeMark& mark, const uint32_t (&found)[4],
                        uint32_t* sums) {
  uint32_t* line = sums + mark.line * kFewLanes;
  uint32_t* first = sums + mark.first_line * kFewLanes;
  uint32_t rest = found[0] << kPartBits;
  for (int c = K - 1; c >= 0; --c) {
    const uint32_t some = c ? found[c] : rest;
    rest -= some;
    line[c] += some;
    first[c] -= some;
  }
  const auto* lines = reinterpret_cast<const uint32_t*>(view.lines);
  return int64_t{found[0]} *
         (int64_t{lines[mark.line * kFewLanes]} - int64_t{lines[mark.first_line * kFewLanes]});
}

template <int K>
static int64_t count_tile(const ScoreView& view, const SixteenView& sixteens, int64_t n,
                          const uint8_t* columns, const uint8_t* bytes, uint32_t* sums) {
  constexpr int kAtOnce = K == 2 ? 4 : 2;  // as registers allow
  int64_t cost = 0;
  for (int64_t i = 0; i < 2 * sixteens.n_bytes; ++i) {
    const uint8_t* column = columns + i / 2 * sixteens.tile_rows;
    const CodeMark* mark = sixteens.marks + sixteens.first_mark[i];
    const CodeMark* end = sixteens.marks + sixteens.first_mark[i + 1];
    const auto add = [&](auto n_marks) {
      uint32_t found[n_marks][4];
      sum_marks<K, n_marks>(mark, column, i % 2, n, bytes, sixteens.tile_rows, found);
      for (const auto& some : found) cost += add_mark<K>(view, *mark++, some, sums);
    };
    while (end - mark >= kAtOnce) add(std::integral_constant<int, kAtOnce>{});
    if (end - mark >= 2) add(std::integral_constant<int, 2>{});
    if (end - mark) add(std::integral_constant<int, 1>{});
  }
  return cost;
}

template <int K>
static void share_sixteens(const ScoreView& view, const SixteenView& sixteens, const Powers& powers,
                           const TileRows& rows, const Ranks& ranks, uint8_t* scratch,
                           uint32_t* sums, const QuadSums& out) {
  const LineShape& shape = view.shape;
  uint8_t* bytes = scratch + shape.narrow_bytes * sixteens.tile_rows;
  SixteenSums<K> found;
  int64_t cost = 0;
  // Blocks are spread over as few tiles as hold them: sums of marks take time in each.
  const int64_t n_blocks = (rows.n + kBlockRows - 1) / kBlockRows;
  const int64_t n_tiles = rows.n / sixteens.tile_rows + 1;
  const int64_t at_once = (n_blocks + n_tiles - 1) / n_tiles * kBlockRows;
  for (int64_t r = 0; r < rows.n; r += at_once) {
    const int64_t n = at_once < rows.n - r ? at_once : rows.n - r;
    transpose_rows(shape, {rows.bytes + r * shape.stride, n}, sixteens.tile_rows, scratch);
    share_tile<K>(sixteens, powers, r, n, ranks, scratch, bytes, found);
    cost += count_tile<K>(view, sixteens, n, scratch, bytes, sums);
  }
  uint64_t sizes[4] = {static_cast<uint64_t>(rows.n) << kPartBits};
  for (int c = 1; c < K; ++c) {
    sizes[c] = static_cast<uint32_t>(_mm512_reduce_add_epi32(found.sizes[c]));
    sizes[0] -= sizes[c];
  }
  const auto* lines = reinterpret_cast<const uint32_t*>(view.lines);
  int64_t each = view.start[0];
  const int64_t column_lines = shape.nibbles ? 16 : 256;
  for (int64_t line = 0; line < shape.n_lines(); line += column_lines) {
    each += lines[line * kFewLanes];
    for (int c = 0; c < K; ++c) sums[line * kFewLanes + c] += static_cast<uint32_t>(sizes[c]);
  }
  for (int64_t c = 0; c < view.n_centers; ++c)
    out.cluster_sizes[c] += static_cast<int64_t>(sizes[c]);
  *out.least += static_cast<uint64_t>(rows.n * each + cost) -
                static_cast<uint64_t>(_mm512_reduce_add_epi64(found.below));
  *out.log += static_cast<uint64_t>(_mm512_reduce_add_epi64(found.log));
}

}  // namespace softmodes::SOFTMODES_ISA

#endif
