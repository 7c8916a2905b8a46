// The least of the totals of a row, and the cluster that has it.
#pragma once

#include "isa/nearest.hpp"
#include "isa/scores/numbers.hpp"

namespace softmodes::SOFTMODES_ISA {

template <class Numbers>
inline uint32_t least_total(const uint32_t* totals, int64_t lanes) {
  auto least = Numbers::load(totals);
  for (int64_t i = Numbers::kNumbers; i < lanes; i += Numbers::kNumbers)
    least = Numbers::min(least, Numbers::load(totals + i));
  return Numbers::least(least);
}

// Calls visit(lane) for those of which bits(vector of totals) are set.
template <class Numbers, class Bits, class Visit>
inline void visit_lanes(const uint32_t* totals, int64_t lanes, const Bits& bits,
                        const Visit& visit) {
  for (int64_t i = 0; i < lanes; i += 64) {
    uint64_t set = 0;
    const int64_t n = lanes - i < 64 ? lanes - i : 64;
    for (int64_t j = 0; j < n; j += Numbers::kNumbers)
      set |= bits(Numbers::load(totals + i + j)) << j;
    for (; set; set &= set - 1) visit(i + std::countr_zero(set));
  }
}

// Of clusters with the same total the one of the smallest rank, or the first.
class BestRank {
 public:
  BestRank(const Ranks& ranks, int64_t row) : ranks_(ranks), row_(row) {}
  void offer(int64_t center) {
    if (best_ < 0) {
      best_ = center;
      return;
    }
    if (!ranks_.ties.by_hash) return;
    if (!ranked_) {
      key_ = ranks_.row_key(row_);
      rank_ = ranks_.of(key_, best_);
      ranked_ = true;
    }
    const uint64_t rank = ranks_.of(key_, center);
    if (rank < rank_) {
      best_ = center;
      rank_ = rank;
    }
  }
  int32_t best() const { return static_cast<int32_t>(best_); }

 private:
  const Ranks& ranks_;
  int64_t row_;
  int64_t best_ = -1;
  bool ranked_ = false;
  uint64_t key_ = 0, rank_ = 0;
};

inline uint32_t least_of(const Candidate* candidates, int64_t n) {
  uint32_t least = candidates[0].total;
  for (int64_t i = 1; i < n; ++i)
    if (candidates[i].total < least) least = candidates[i].total;
  return least;
}

inline int32_t cheapest(const Ranks& ranks, int64_t row, const Candidate* candidates, int64_t n) {
  const uint32_t least = least_of(candidates, n);
  BestRank best(ranks, row);
  for (int64_t i = 0; i < n; ++i)
    if (candidates[i].total == least) best.offer(candidates[i].center);
  return best.best();
}

}  // namespace softmodes::SOFTMODES_ISA
