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

  // A row of which the totals of some clusters are known, all that are in reach among them.
  void candidates(int64_t r, const Candidate* candidates, int64_t n) {
    const uint32_t least = least_of(candidates, n);
    share(r, least, [&](const auto& offer) {
      for (int64_t i = 0; i < n; ++i)
        if (candidates[i].total - least < powers_.limit)
          offer(candidates[i].center, candidates[i].total);
    });
  }

  // each(offer) calls offer(cluster, total) for all clusters less than the limit above the least.
  template <class Each>
  void share(int64_t r, uint32_t least, const Each& each) {
    const int64_t first = n_;
    int64_t end = n_;
    BestRank best(ranks_, r);
    each([&](int32_t cluster, uint32_t total) {
      if (total == least) best.offer(cluster);
      out_.cluster[end] = cluster;
      out_.part[end++] = total - least;
    });
    uint64_t sum = 0;
    for (int64_t i = first; i < end; ++i) sum += out_.part[i] = power(powers_, out_.part[i]);
    out_.least[r] = least;
    out_.log[r] = fixed_log(powers_, sum);
    // The quotient is exact: w 2^16 < 2^48 and the sum are doubles, and a quotient below a whole
    // number is so by 1 / sum, 2^6 times what rounding adds. No branches, which would go either
    // way.
    const auto all = static_cast<double>(sum);
    uint32_t left = uint32_t{1} << kPartBits;
    for (int64_t i = first; i < end; ++i) {
      const int32_t cluster = out_.cluster[i];
      const double w = static_cast<double>(uint64_t{out_.part[i]} << kPartBits);
      const uint32_t part = cluster == best.best() ? 0 : static_cast<uint32_t>(w / all);
      out_.cluster[n_] = cluster;
      out_.part[n_] = part;
      n_ += part > 0;
      left -= part;
    }
    out_.cluster[n_] = best.best();
    out_.part[n_++] = left;
    out_.n[r] = static_cast<int32_t>(n_ - first);
  }

 private:
  const Powers& powers_;
  const Ranks& ranks_;
  const Shares& out_;
  int64_t n_ = 0;
};

}  // namespace softmodes::SOFTMODES_ISA
