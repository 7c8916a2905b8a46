// Counts -> prices: what it costs a row to hold a value in a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "rounds/counts.hpp"
#include "rounds/fixed_price.hpp"

namespace softmodes {

enum class PriceRule {
  gini,    // 1 - 2 p(v) + sum of p^2: squared distance to the shares p of the cluster
  latent,  // -log2 P(v), P the shares with `prior` rows more that are spread as the whole table is
};

// Counts of rows that are nearly sure of their clusters: (count >> less) * factor, and the totals
// of the table, without as many last bits. A factor of 0: counts as they are.
struct NearlySure {
  int64_t factor;
  int less;
};

struct PriceSource {
  PriceRule rule;
  DenseCounts counts;
  NearlySure nearly_sure;
  const int64_t* totals;         // by cell, of the whole table; in units of their own
  double prior;                  // in units of the counts
  const double* feature_weight;  // what prices are multiplied by; null: 1
};

// Prices of some clusters as they were.
struct KeptPrices {
  const double* prices;
  int64_t n_clusters;
};

// Where prices go, in units of 2^-resolution: prices[cluster * n_prices + offsets[feature] +
// value].
struct FixedPrices {
  int resolution;
  const int64_t* offsets;
  int64_t n_prices;
  uint32_t* prices;
  int16_t* raised;  // by how many 2^-kRoundedBits of a unit each was raised; null: not asked for
};
void fixed_prices(const PriceSource& source, const FixedPrices& out, const Threads& threads);

// The same, and how much dearer a value of each feature is in one cluster than in another, at most,
// with what is kept (in the order of the prices that are made) beside these; 0 for sparse features.
std::vector<double> fixed_prices_and_spans(const PriceSource& source, const KeptPrices& kept,
                                           const FixedPrices& out, const Threads& threads);

// The same of prices that are given.
void fixed_numbers(const double* prices, int64_t n, int resolution, uint32_t* out, int16_t* raised);

// What a row costs in a cluster before its cells, by the latent rule: -log2 of the cluster's share
// of all rows. A cluster that is empty counts as one unit.
std::vector<double> latent_bases(const int64_t* sizes, int64_t n_clusters);

// The share of each value in the total of its feature, 0 where there is nothing; the values of
// feature j begin at starts[j].
std::vector<double> value_shares(const int64_t* totals, const int64_t* starts, int64_t n_features,
                                 const Threads& threads);

// log2, the same on every machine.
double portable_log2(double x);
std::vector<double> portable_log2(const double* numbers, int64_t n, const Threads& threads);

}  // namespace softmodes
