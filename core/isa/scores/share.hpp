// Totals of a row -> its parts.
#pragma once

#include "isa/scores/least.hpp"

namespace softmodes::SOFTMODES_ISA {

inline uint32_t power(const Powers& powers, uint32_t difference) {
  if (powers.resolution < 0) return uint32_t{1} << 31 >> (difference << -powers.resolution);
  const uint32_t mask = (uint32_t{1} << powers.resolution) - 1;
  return powers.power[difference & mask] >> (difference >> powers.resolution);
}

// 2^kLogBits log2(x / 2^31), for x from 2^31 on.
inline uint32_t fixed_log(const Powers& powers, uint64_t x) {
  const int exponent = 63 - std::countl_zero(x);
  const uint64_t m = x << (63 - exponent);
  const uint64_t i = m >> 53 & 1023, rest = m >> 37 & 65535;
  const uint64_t low = powers.log[i] & 0xffffffff, step = powers.log[i] >> 32;
  return (static_cast<uint32_t>(exponent - 31) << kLogBits) +
         static_cast<uint32_t>(((low << 16) + step * rest) >> 26);
}

#if defined(__AVX2__)
constexpr int64_t kEight = 8;
static_assert(kSharedAtOnce == kEight);

// Powers of eight totals, 0 from the limit on.
SOFTMODES_INLINE __m256i eight_powers(const Powers& powers, __m256i differences) {
  const __m256i limit = _mm256_set1_epi32(static_cast<int>(powers.limit));
  const __m256i mask = _mm256_set1_epi32((1 << powers.resolution) - 1);
  const __m256i near = _mm256_cmpgt_epi32(limit, differences);
  if (_mm256_testz_si256(near, near)) return near;
  const auto* table = reinterpret_cast<const int*>(powers.power);
  const __m256i found = _mm256_i32gather_epi32(table, _mm256_and_si256(differences, mask), 4);
  const __m128i shift = _mm_cvtsi32_si128(powers.resolution);
  return _mm256_and_si256(near, _mm256_srlv_epi32(found, _mm256_srl_epi32(differences, shift)));
}

// Whole quotients of eight powers.
SOFTMODES_INLINE __m256i eight_quotients(__m256i powers, double divisor) {
#if defined(__AVX512F__)
  return _mm512_cvttpd_epi32(_mm512_div_pd(_mm512_cvtepu32_pd(powers), _mm512_set1_pd(divisor)));
#else
  // Numbers are converted as signed ones: 2^31 is one of them.
  const __m256i moved = _mm256_xor_si256(powers, _mm256_set1_epi32(INT32_MIN));
  const auto divided = [&](__m128i x) {
    const __m256d number = _mm256_add_pd(_mm256_cvtepi32_pd(x), _mm256_set1_pd(2147483648.0));
    return _mm256_cvttpd_epi32(_mm256_div_pd(number, _mm256_set1_pd(divisor)));
  };
  return _mm256_set_m128i(divided(_mm256_extracti128_si256(moved, 1)),
                          divided(_mm256_castsi256_si128(moved)));
#endif
}

inline __m256i load_eight(const uint32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline void store_eight(uint32_t* p, __m256i x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
}
inline bool by_eights(const Powers& powers, int64_t lanes) {
  return lanes % kEight == 0 && powers.resolution >= 0;
}
#endif

// Totals of a row become powers. Returns their sum.
inline uint64_t to_powers(const Powers& powers, uint32_t least, uint32_t* numbers, int64_t lanes) {
#if defined(__AVX2__)
  if (by_eights(powers, lanes)) {
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    const __m256i from = _mm256_set1_epi32(static_cast<int>(least));
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < lanes; i += kEight) {
      const __m256i x = eight_powers(powers, _mm256_sub_epi32(load_eight(numbers + i), from));
      store_eight(numbers + i, x);
      sums = _mm256_add_epi64(sums, _mm256_and_si256(x, low));
      sums = _mm256_add_epi64(sums, _mm256_srli_epi64(x, 32));
    }
    alignas(32) uint64_t four[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(four), sums);
    return four[0] + four[1] + four[2] + four[3];
  }
#endif
  uint64_t sum = 0;
  for (int64_t i = 0; i < lanes; ++i) {
    const uint32_t difference = numbers[i] - least;
    sum += numbers[i] = difference < powers.limit ? power(powers, difference) : 0;
  }
  return sum;
}

// Powers of a row become parts: w 2^16 / sum, rounded down. Returns their sum. The quotient is
// exact: w 2^16 < 2^48 and the sum are doubles, and a quotient below a whole number is so by 1 /
// sum, 2^6 times what rounding adds.
inline uint32_t to_parts([[maybe_unused]] const Powers& powers, uint64_t sum, uint32_t* numbers,
                         int64_t lanes) {
  const double divisor = static_cast<double>(sum) / (1 << kPartBits);
  uint32_t all = 0;
#if defined(__AVX2__)
  if (by_eights(powers, lanes)) {
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < lanes; i += kEight) {
      const __m256i w = load_eight(numbers + i);
      if (_mm256_testz_si256(w, w)) continue;
      const __m256i x = eight_quotients(w, divisor);
      store_eight(numbers + i, x);
      sums = _mm256_add_epi32(sums, x);
    }
    alignas(32) uint32_t eight[8];
    store_eight(eight, sums);
    for (const uint32_t x : eight) all += x;
    return all;
  }
#endif
  for (int64_t i = 0; i < lanes; ++i)
    all += numbers[i] = static_cast<uint32_t>(static_cast<double>(numbers[i]) / divisor);
  return all;
}

// Writes the parts of one row after the other.
class Sharing {
 public:
  Sharing(const Powers& powers, const Ranks& ranks, const Shares& out)
      : powers_(powers), ranks_(ranks), out_(out) {}
  int64_t n_parts() const { return n_; }

  // A row that is nowhere near another cluster.
  void alone(int64_t r, int32_t cluster) {
    out_.least[r] = out_.log[r] = 0;
    out_.n[r] = 1;
    out_.cluster[n_] = cluster;
    out_.part[n_++] = uint32_t{1} << kPartBits;
  }

  // A row of which all totals are known.
  template <class Numbers>
  void dense(int64_t r, const uint32_t* totals, int64_t lanes) {
    const uint32_t least = least_total<Numbers>(totals, lanes);
    const auto below = Numbers::broadcast(least + powers_.limit);
    share(r, least, [&](const auto& offer) {
      visit_lanes<Numbers>(
          totals, lanes, [&](auto x) { return Numbers::below_bits(x, below); },
          [&](int64_t lane) { offer(static_cast<int32_t>(lane), totals[lane]); });
    });
  }

  // The same, but its totals become its parts, zeros included.
  template <class Numbers>
  void in_place(int64_t r, uint32_t* totals, int64_t lanes) {
    const uint32_t least = least_total<Numbers>(totals, lanes);
    const auto wanted = Numbers::broadcast(least);
    BestRank best(ranks_, r);
    visit_lanes<Numbers>(
        totals, lanes, [&](auto x) { return Numbers::equal_bits(x, wanted); },
        [&](int64_t lane) { best.offer(lane); });
    const uint64_t sum = to_powers(powers_, least, totals, lanes);
    out_.least[r] = least;
    out_.log[r] = fixed_log(powers_, sum);
    constexpr uint32_t kWhole = uint32_t{1} << kPartBits;
    uint32_t& part = totals[best.best()];
    if (sum == uint64_t{1} << 31)  // no other cluster is near
      part = kWhole;
    else
      part += kWhole - to_parts(powers_, sum, totals, lanes);
  }

  // A row of which the totals of some clusters are known, all that are in reach among them.
  void candidates(int64_t r, const Candidate* candidates, int64_t n) {
    const uint32_t least = least_of(candidates, n);
    share(r, least, [&](const auto& offer) {
      for (int64_t i = 0; i < n; ++i) offer(candidates[i].center, candidates[i].total);
    });
  }

  // each(offer) calls offer(cluster, total) for all clusters less than the limit above the least;
  // for others it may. Numbers of a list that is not short are taken eight at a time, and so go up
  // to a multiple.
  template <class Each>
  void share(int64_t r, uint32_t least, const Each& each) {
    uint32_t* part = out_.part + n_;
    int32_t* cluster = out_.cluster + n_;
    int64_t n = 0;
    BestRank best(ranks_, r);
    each([&](int32_t offered, uint32_t total) {
      if (total == least) best.offer(offered);
      cluster[n] = offered;
      part[n] = total - least;
      n += part[n] < powers_.limit;
    });
    int64_t lanes = n;
    for (; n > kShort && lanes % kSharedAtOnce; ++lanes) part[lanes] = powers_.limit;
    const uint64_t sum = to_powers(powers_, 0, part, lanes);
    out_.least[r] = least;
    out_.log[r] = fixed_log(powers_, sum);
    constexpr uint32_t kWhole = uint32_t{1} << kPartBits;
    uint32_t left = kWhole - to_parts(powers_, sum, part, lanes);
    int64_t n_kept = 0;
    for (int64_t i = 0; i < n; ++i) {  // without branches, which would go either way
      const bool is_best = cluster[i] == best.best();
      left += is_best ? part[i] : 0;
      cluster[n_kept] = cluster[i];
      part[n_kept] = part[i];
      n_kept += !is_best && part[i] > 0;
    }
    cluster[n_kept] = best.best();
    part[n_kept++] = left;
    out_.n[r] = static_cast<int32_t>(n_kept);
    n_ += n_kept;
  }

 private:
  static constexpr int64_t kShort = 3;

  const Powers& powers_;
  const Ranks& ranks_;
  const Shares& out_;
  int64_t n_ = 0;
};

}  // namespace softmodes::SOFTMODES_ISA
