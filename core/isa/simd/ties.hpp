// Ties of up to 64 rows settled by hash, for instruction sets without wide multiplication.
#pragma once

#include <bit>
#include <cstdint>

#include "hashing.hpp"

namespace softmodes::SOFTMODES_ISA {

// Of the centers offered to a row, the one of the smallest rank wins.
class TieBreaker {
 public:
  // `rows`: which of 64 rows are tied; row_hash(i) is the hash of row i.
  template <class Hash>
  TieBreaker(uint64_t rows, uint64_t key, const Hash& row_hash) : rows_(rows) {
    for (uint64_t left = rows; left; left &= left - 1) {
      const int i = std::countr_zero(left);
      key_[i] = fold(key, row_hash(i));
      best_[i] = ~uint64_t{0};
    }
  }

  // `rows`: which of 64 rows the center is offered to.
  void offer(uint64_t rows, int32_t cluster, int center) {
    for (uint64_t left = rows & rows_; left; left &= left - 1) {
      const int i = std::countr_zero(left);
      const uint64_t rank = fold(key_[i], static_cast<uint64_t>(cluster));
      const bool lower = rank < best_[i];  // as likely as not: no branch
      best_[i] = lower ? rank : best_[i];
      winner_[i] = lower ? center : winner_[i];
    }
  }

  template <class D>
  void write(D* centers) const {
    for (uint64_t left = rows_; left; left &= left - 1) {
      const int i = std::countr_zero(left);
      centers[i] = static_cast<D>(winner_[i]);
    }
  }

 private:
  uint64_t rows_;
  uint64_t key_[64], best_[64];
  int winner_[64];
};

// Lets `last` take the place of `center` in those of n rows where its rank is lower.
template <class Hash, class D>
inline void settle_pairs(const int32_t* rows, int64_t n, uint64_t key, const Hash& row_hash,
                         const int32_t* clusters, const D* last, D* center) {
  for (int64_t i = 0; i < n; ++i) {
    const int32_t row = rows[i];
    const uint64_t row_key = fold(key, row_hash(row));
    const bool lower = fold(row_key, static_cast<uint64_t>(clusters[last[row]])) <
                       fold(row_key, static_cast<uint64_t>(clusters[center[row]]));
    center[row] = lower ? last[row] : center[row];
  }
}

inline uint64_t sum_factors(const int32_t* label, const uint64_t* label_factors, int64_t, int64_t n,
                            int64_t first_number) {
  uint64_t sum = 0;
  for (int64_t r = 0; r < n; ++r) sum += row_factor(first_number + r) * label_factors[label[r]];
  return sum;
}

}  // namespace softmodes::SOFTMODES_ISA
