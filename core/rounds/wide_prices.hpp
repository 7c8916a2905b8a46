// Prices of all sparse features, at once: what a value costs in a cluster is
// usual[cluster] + shared[value] - bonus, and bonuses are listed by value.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "rounds/counts.hpp"
#include "rounds/prices.hpp"
#include "rounds/split.hpp"

namespace softmodes {

// Numbers by value, of one feature after the other, for some clusters in ascending order.
template <class T>
struct ByValue {
  std::vector<int64_t> indptr;  // n_values of all features, and one more
  std::vector<int32_t> clusters;
  std::vector<T> numbers;
};

// Which clusters have something of each value: those from indptr[v] on. Numbers are listed so.
struct ValueCells {
  const int64_t* indptr;
  const int32_t* clusters;
};
template <class T>
struct ByValueView {
  ValueCells cells;
  const T* numbers;
};

// Counts of values, by value; those of the f-th feature begin at value_starts[f].
ByValue<int64_t> counts_by_value(const WideCounts& tally, const int64_t* value_starts,
                                 const Threads& threads);

struct WideSource {
  PriceRule rule;
  WideCounts counts;
  const int64_t* value_starts;
  ByValueView<int64_t> by_value;  // the same counts
  const double* shares;           // of the table, by value; not 0
  double prior;
  const double* feature_weight;  // what prices are multiplied by, by feature
};

// usual[f * n_clusters + cluster], a bonus for each count of a value, and how many rows were
// observed in each cluster. A cluster in which nothing was observed costs as if p were 0.
void wide_prices(const WideSource& source, double* usual, double* bonus, int64_t* observed,
                 const Threads& threads);

// Where the values of features begin, and how many clusters they have prices in.
struct WideShape {
  const int64_t* value_starts;
  int64_t n_features;
  int64_t n_clusters;

  // Runs task(f) for each feature, by threads if cells are many.
  template <class Task>
  void split(const ValueCells& cells, const Threads& threads, const Task& task) const {
    const int64_t n_values = value_starts[n_features];
    split_features(n_features, n_values + cells.indptr[n_values], threads, task);
  }
};

// Bonuses in units of 2^-resolution, none above the price that it is taken off; and by how much
// rounding raised each.
void fixed_bonuses(const WideShape& shape, const ByValueView<double>& bonus, const uint32_t* usual,
                   const uint32_t* shared, int resolution, uint32_t* out, int16_t* raised,
                   const Threads& threads);

// The sum over counted cells, without the last `less` bits of their counts, of what rounding has
// raised their prices by.
struct WideRaised {
  const int16_t* usual;
  const int16_t* shared;
  ByValueView<int16_t> bonus;
};
int64_t sum_of_raised(const WideShape& shape, const ByValueView<int64_t>& counts, int less,
                      const WideRaised& raised, const Threads& threads);

// By value: the sum over the clusters of its prices, as they were before rounding has raised them.
// Bonuses of both are listed as one.
struct WideFixed {
  const uint32_t* usual;
  const uint32_t* shared;
  const uint32_t* bonus;
};
void sums_before_rounding(const WideShape& shape, const WideFixed& prices, const WideRaised& raised,
                          double* out, const Threads& threads);

// Sorts what each value has by other numbers of the clusters: cluster c becomes rank[c].
void renumber_clusters(int64_t n_values, int64_t n_clusters, const int64_t* indptr,
                       const int32_t* rank, int32_t* clusters, uint32_t* numbers);

}  // namespace softmodes
