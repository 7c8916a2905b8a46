// Counts -> prices: what it costs a row to hold a value in a cluster.
#pragma once

#include <cstdint>

#include "parallel.hpp"
#include "rounds/counts.hpp"

namespace softmodes {

enum class PriceRule {
  gini,    // 1 - 2 p(v) + sum of p^2: squared distance to the shares p of the cluster
  latent,  // -log2 P(v), P the shares with `prior` rows more that are spread as the whole table is
};

struct PriceSource {
  PriceRule rule;
  DenseCounts counts;
  const int64_t* totals;         // by cell, of the whole table; in units of their own
  double prior;                  // in units of the counts
  const double* feature_weight;  // what prices are multiplied by; null: 1
};

// The least and the dearest price of every cell over the clusters; 0 for codes that are no values.
void price_ranges(const PriceSource& source, double* least, double* dearest,
                  const Threads& threads);

// Prices in units of 2^-resolution: out[cluster * n_prices + offsets[feature] + value], and if
// asked for, by how many 2^-kRoundedBits of a unit each was raised.
constexpr int kRoundedBits = 15;
void fixed_prices(const PriceSource& source, int resolution, const int64_t* offsets, uint32_t* out,
                  int16_t* raised, const Threads& threads);

// By value: the sum over the clusters of its prices, as they were before rounding has raised them.
// Both are clusters x values.
void sums_before_rounding(const uint32_t* prices, const int16_t* raised, int64_t n_clusters,
                          int64_t n_values, double* out);

// log2, the same on every machine.
double portable_log2(double x);

}  // namespace softmodes
