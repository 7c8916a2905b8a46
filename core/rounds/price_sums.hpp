// Sums over all prices of features that are kept dense: what objectives are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "rounds/split.hpp"
#include "sum128.hpp"

namespace softmodes {

// Prices of all clusters, and what rounding has raised them by, in units of 2^-kRoundedBits.
struct RoundedPrices {
  const uint32_t* prices;  // by cluster and value
  const int16_t* raised;
  int64_t n_clusters;
  int64_t n_prices;
};

// The least price of each value over the clusters, times how often it occurs.
Sum128 sum_of_least(const uint32_t* prices, int64_t n_clusters, int64_t n_prices,
                    const int64_t* totals, const Threads& threads);

// The sum over counted cells, without the last `less` bits of their counts, of what rounding has
// raised their prices by; those of feature j begin at offsets[j].
int64_t sum_of_raised_dense(const DenseCounts& counts, int less, const int64_t* offsets,
                            const int16_t* raised, const Threads& threads);

// The sum of all prices before rounding, each times the share of its value, and of some more
// numbers: rounded once.
double sum_by_shares(const RoundedPrices& prices, const double* shares, const double* more,
                     int64_t n_more, const Threads& threads);

}  // namespace softmodes
