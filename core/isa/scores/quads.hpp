// Up to four clusters: four rows at a time, whose totals are then compared side by side.
#pragma once

#include "isa/scores/least.hpp"
#include "isa/scores/lines.hpp"

#if defined(__AVX2__)

namespace softmodes::SOFTMODES_ISA {

// at[c]: totals of cluster c, a row in each number.
struct FourRows {
  __m128i at[4];
  void transpose() {
    const __m128i a = _mm_unpacklo_epi32(at[0], at[1]), b = _mm_unpacklo_epi32(at[2], at[3]);
    const __m128i c = _mm_unpackhi_epi32(at[0], at[1]), d = _mm_unpackhi_epi32(at[2], at[3]);
    at[0] = _mm_unpacklo_epi64(a, b);
    at[1] = _mm_unpackhi_epi64(a, b);
    at[2] = _mm_unpacklo_epi64(c, d);
    at[3] = _mm_unpackhi_epi64(c, d);
  }
  __m128i least() const {
    return _mm_min_epu32(_mm_min_epu32(at[0], at[1]), _mm_min_epu32(at[2], at[3]));
  }
};

// Calls visit(row, line number) for all lines of four rows, column by column.
template <bool kNibbles, class Visit>
SOFTMODES_INLINE void lines_of_four(const LineShape& shape, const uint8_t* rows,
                                    const Visit& visit) {
  int64_t first = 0;
  const auto column = [&](int64_t byte, int64_t n_values, auto value) {
    for (int r = 0; r < 4; ++r) visit(r, first + value(rows[r * shape.stride + byte]));
    first += n_values;
  };
  for (int64_t i = 0; i < shape.narrow_bytes; ++i) {
    if constexpr (kNibbles) {
      column(i, 16, [](uint8_t x) { return x & 15; });
      column(i, 16, [](uint8_t x) { return x >> 4; });
    } else {
      column(i, 256, [](uint8_t x) { return x; });
    }
  }
  for (int64_t i = 0; i < shape.byte_columns; ++i)
    column(shape.narrow_bytes + i, 256, [](uint8_t x) { return x; });
}

template <bool kNibbles>
SOFTMODES_INLINE FourRows sum_four(const ScoreView& view, const uint8_t* rows) {
  const auto* lines = reinterpret_cast<const __m128i*>(view.lines);
  const __m128i start = _mm_loadu_si128(reinterpret_cast<const __m128i*>(view.start));
  FourRows sum{{start, start, start, start}};
  lines_of_four<kNibbles>(view.shape, rows, [&](int r, int64_t line) {
    sum.at[r] = _mm_add_epi32(sum.at[r], lines[line]);
  });
  sum.transpose();
  return sum;
}

// The nearest cluster of each row; ties are settled one by one.
struct NearestFour {
  __m128i least, label;
  unsigned tied;  // a bit per row
  explicit NearestFour(const FourRows& totals) : least(totals.least()) {
    const __m128i none = _mm_setzero_si128();
    __m128i n = none;  // minus the clusters with the least
    label = none;
    for (int c = 3; c >= 0; --c) {
      const __m128i equal = _mm_cmpeq_epi32(totals.at[c], least);
      label = _mm_blendv_epi8(label, _mm_set1_epi32(c), equal);
      n = _mm_add_epi32(n, equal);
    }
    tied = static_cast<unsigned>(
        _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(_mm_set1_epi32(-1), n))));
  }
};

template <class Labels>
inline void settle_four(const FourRows& totals, const NearestFour& nearest, int64_t row,
                        const Ranks& ranks, const Labels& labels) {
  alignas(16) uint32_t total[4][4], least[4];
  for (int c = 0; c < 4; ++c) _mm_store_si128(reinterpret_cast<__m128i*>(total[c]), totals.at[c]);
  _mm_store_si128(reinterpret_cast<__m128i*>(least), nearest.least);
  for (unsigned left = nearest.tied; left; left &= left - 1) {
    const int r = std::countr_zero(left);
    BestRank best(ranks, row + r);
    for (int c = 0; c < 4; ++c)
      if (total[c][r] == least[r]) best.offer(c);
    labels(r, best.best());
  }
}

template <bool kNibbles>
static void nearest_by_quads(const ScoreView& view, const TileRows& rows, const Ranks& ranks,
                             Nearest out) {
  for (int64_t r = 0; r + 4 <= rows.n; r += 4) {
    const FourRows totals = sum_four<kNibbles>(view, rows.bytes + r * view.shape.stride);
    const NearestFour nearest(totals);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.distance + r), nearest.least);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.label + r), nearest.label);
    if (nearest.tied && ranks.ties.by_hash)
      settle_four(totals, nearest, r, ranks,
                  [&](int i, int32_t label) { out.label[r + i] = label; });
  }
}

// What rows give to their K clusters; and the logarithms of their sums of powers.
template <int K>
struct SharesOfFour {
  FourRows part{};
  __m256i log;

  // The best cluster's power is known, and its part is what the others leave: other j is cluster j
  // before the best, and j + 1 from there on.
  SharesOfFour(const FourRows& totals, const NearestFour& nearest, const Powers& powers) {
    const __m128i mask = _mm_set1_epi32((1 << powers.resolution) - 1);
    const __m128i shift = _mm_cvtsi32_si128(powers.resolution);
    const __m128i limit = _mm_set1_epi32(static_cast<int>(powers.limit));
    const auto* power = reinterpret_cast<const int*>(powers.power);
    __m128i after[K];  // whether other j comes after the best
    __m256d w[K], sum = _mm256_set1_pd(2147483648.0);
    for (int j = 0; j < K - 1; ++j) {
      after[j] = _mm_cmpgt_epi32(_mm_set1_epi32(j + 1), nearest.label);
      const __m128i total = _mm_blendv_epi8(totals.at[j], totals.at[j + 1], after[j]);
      const __m128i difference = _mm_sub_epi32(total, nearest.least);
      __m128i found = _mm_i32gather_epi32(power, _mm_and_si128(difference, mask), 4);
      found = _mm_and_si128(found, _mm_cmpgt_epi32(limit, difference));
      w[j] = as_doubles(_mm_srlv_epi32(found, _mm_srl_epi32(difference, shift)));
      sum = _mm256_add_pd(sum, w[j]);
    }
    const __m256d whole = _mm256_set1_pd(1 << kPartBits);
    __m128i rest = _mm_set1_epi32(1 << kPartBits), other[K + 1];
    for (int j = 0; j < K - 1; ++j) {
      other[j] = _mm256_cvttpd_epi32(_mm256_div_pd(_mm256_mul_pd(w[j], whole), sum));
      rest = _mm_sub_epi32(rest, other[j]);
    }
    other[K - 1] = rest;
    for (int c = 0; c < K; ++c) {
      const __m128i best = _mm_cmpeq_epi32(nearest.label, _mm_set1_epi32(c));
      const __m128i not_best = c ? _mm_blendv_epi8(other[c], other[c - 1], after[c - 1]) : other[0];
      part.at[c] = _mm_blendv_epi8(not_best, rest, best);
    }
    log = fixed_logs(powers, sum);
  }

  static __m256d as_doubles(__m128i x) {
    const __m256d magic = _mm256_set1_pd(4503599627370496.0);  // 2^52
    const __m256i bits = _mm256_or_si256(_mm256_cvtepu32_epi64(x), _mm256_castpd_si256(magic));
    return _mm256_sub_pd(_mm256_castsi256_pd(bits), magic);
  }
  // As fixed_log, from the bits of whole numbers in doubles.
  static __m256i fixed_logs(const Powers& powers, __m256d sum) {
    const __m256i bits = _mm256_castpd_si256(sum);
    const __m256i i = _mm256_and_si256(_mm256_srli_epi64(bits, 42), _mm256_set1_epi64x(1023));
    const __m256i rest = _mm256_and_si256(_mm256_srli_epi64(bits, 26), _mm256_set1_epi64x(65535));
    const auto* log = reinterpret_cast<const long long*>(powers.log);
    const __m256i found = _mm256_i64gather_epi64(log, i, 8);
    const __m256i low = _mm256_and_si256(found, _mm256_set1_epi64x(0xffffffff));
    const __m256i fraction = _mm256_add_epi64(_mm256_slli_epi64(low, 16),
                                              _mm256_mul_epu32(_mm256_srli_epi64(found, 32), rest));
    const __m256i exponent =
        _mm256_sub_epi64(_mm256_srli_epi64(bits, 52), _mm256_set1_epi64x(1023 + 31));
    return _mm256_add_epi64(_mm256_slli_epi64(exponent, kLogBits), _mm256_srli_epi64(fraction, 26));
  }
};

// Adds the parts of four rows to their lines; at[r]: those of row r.
template <bool kNibbles>
SOFTMODES_INLINE void add_four(const LineShape& shape, const uint8_t* rows, const FourRows& part,
                               uint32_t* sums) {
  lines_of_four<kNibbles>(shape, rows, [&](int r, int64_t line) {
    __m128i* at = reinterpret_cast<__m128i*>(sums) + line;
    _mm_storeu_si128(at, _mm_add_epi32(_mm_loadu_si128(at), part.at[r]));
  });
}

template <bool kNibbles, int K>
static void share_quads(const ScoreView& view, const Powers& powers, const TileRows& rows,
                        const Ranks& ranks, uint32_t* sums, const QuadSums& out) {
  __m256i least = _mm256_setzero_si256(), log = least;
  FourRows sizes{};
  for (int64_t r = 0; r + 4 <= rows.n; r += 4) {
    const uint8_t* four = rows.bytes + r * view.shape.stride;
    const FourRows totals = sum_four<kNibbles>(view, four);
    NearestFour nearest(totals);
    if (nearest.tied && ranks.ties.by_hash) {
      alignas(16) int32_t label[4];
      _mm_store_si128(reinterpret_cast<__m128i*>(label), nearest.label);
      settle_four(totals, nearest, r, ranks, [&](int i, int32_t best) { label[i] = best; });
      nearest.label = _mm_load_si128(reinterpret_cast<const __m128i*>(label));
    }
    SharesOfFour<K> shares(totals, nearest, powers);
    least = _mm256_add_epi64(least, _mm256_cvtepu32_epi64(nearest.least));
    log = _mm256_add_epi64(log, shares.log);
    for (int c = 0; c < K; ++c) sizes.at[c] = _mm_add_epi32(sizes.at[c], shares.part.at[c]);
    shares.part.transpose();
    add_four<kNibbles>(view.shape, four, shares.part, sums);
  }
  alignas(32) uint64_t words[2][4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words[0]), least);
  _mm256_store_si256(reinterpret_cast<__m256i*>(words[1]), log);
  alignas(16) uint32_t size[4];
  for (int i = 0; i < 4; ++i) {
    *out.least += words[0][i];
    *out.log += words[1][i];
    _mm_store_si128(reinterpret_cast<__m128i*>(size), sizes.at[i]);
    if (i < view.n_centers)
      for (const uint32_t some : size) out.cluster_sizes[i] += some;
  }
}

}  // namespace softmodes::SOFTMODES_ISA

#endif
