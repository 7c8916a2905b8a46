// Counts -> prices: what it costs a row to hold a value in a cluster.
#pragma once

#include <cstdint>
#include <vector>

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

// Prices of some clusters as they were: those of feature j begin at offsets[j].
struct KeptPrices {
  const double* prices;
  const int64_t* offsets;
  int64_t n_clusters;
};

// How much dearer a value of each feature is in one cluster than in another, at most; with what is
// kept beside the prices that are made. 0 for sparse features.
std::vector<double> price_spans(const PriceSource& source, const KeptPrices& kept,
                                const Threads& threads);

// Prices in units of 2^-resolution: out[cluster * n_prices + offsets[feature] + value], and if
// asked for, by how many 2^-kRoundedBits of a unit each was raised.
constexpr int kRoundedBits = 15;
void fixed_prices(const PriceSource& source, int resolution, const int64_t* offsets, uint32_t* out,
                  int16_t* raised, const Threads& threads);

// The same of prices that are given.
void fixed_numbers(const double* prices, int64_t n, int resolution, uint32_t* out, int16_t* raised);

// What a row costs in a cluster before its cells, by the latent rule: -log2 of the cluster's share
// of all rows. A cluster that is empty counts as one unit.
std::vector<double> latent_bases(const int64_t* sizes, int64_t n_clusters);

// log2, the same on every machine.
double portable_log2(double x);

}  // namespace softmodes
