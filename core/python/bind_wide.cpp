// Counts and prices of all sparse features at once, as Python functions.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "python/bindings.hpp"
#include "python/held_counts.hpp"
#include "rounds/draw.hpp"
#include "rounds/exact_sum.hpp"
#include "rounds/expected_cost.hpp"
#include "rounds/wide_prices.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softmodes {
namespace {

template <class T>
void require_by_cluster(const HeldWide& counts, const Matrix<T>& numbers, const char* message) {
  require(length(numbers) == counts.n_features() && length(numbers, 1) == counts.n_clusters(),
          message);
}

void draw_wide_(const HeldWide& counts, double t, uint64_t key, Matrix<int32_t> centers,
                int n_threads) {
  const WideCounts tally = counts.view();
  require(length(centers) == tally.n_clusters, "centers must have one row per cluster");
  for (int64_t f = 0; f < tally.n_features; ++f)
    require(tally.features[f] >= 0 && tally.features[f] < length(centers, 1),
            "centers must have one column per feature");
  const nb::gil_scoped_release released;
  draw_wide(tally, t, key, centers.data(), length(centers, 1), {n_threads, {}});
}

NewArray<double> expected_costs_wide_(const HeldWide& counts, int n_threads) {
  return as_array(without_gil(n_threads, [&](const Threads& threads) {
    return expected_costs_wide(counts.view(), threads);
  }));
}

std::tuple<NewArray<int64_t>, NewArray<int64_t>> mode_counts_wide_(const HeldWide& counts,
                                                                   int n_threads) {
  ModeCounts found = without_gil(
      n_threads, [&](const Threads& threads) { return mode_counts_wide(counts.view(), threads); });
  return {as_array(std::move(found.modes)), as_array(std::move(found.observed))};
}

std::tuple<NewArray<int64_t>, NewArray<int32_t>, NewArray<int64_t>> counts_by_value_(
    const HeldWide& counts, int n_threads) {
  ByValue<int64_t> found = without_gil(n_threads, [&](const Threads& threads) {
    return counts_by_value(counts.view(), counts.value_starts().data(), threads);
  });
  return {as_array(std::move(found.indptr)), as_array(std::move(found.clusters)),
          as_array(std::move(found.numbers))};
}

void wide_prices_(const HeldWide& counts, const HeldCells& cells, Vector<const int64_t> by_value,
                  bool latent, Vector<const double> shares, double prior,
                  Vector<const double> feature_weight, Matrix<double> usual, Vector<double> bonus,
                  Matrix<int64_t> observed, int n_threads) {
  require(!latent || length(shares) == counts.n_values(), "shares must have one entry per value");
  require(length(feature_weight) == counts.n_features(),
          "feature_weight must have one entry per feature");
  require_by_cluster(counts, usual, "usual must be features x clusters");
  require_by_cluster(counts, observed, "observed must be features x clusters");
  require(length(bonus) == cells.n_cells(), "bonus must have one entry per count");
  const WideSource source{latent ? PriceRule::latent : PriceRule::gini,
                          counts.view(),
                          counts.value_starts().data(),
                          cells.with(by_value, counts.n_values(), counts.n_clusters()),
                          shares.data(),
                          prior,
                          feature_weight.data()};
  const nb::gil_scoped_release released;
  wide_prices(source, usual.data(), bonus.data(), observed.data(), {n_threads, {}});
}

void fixed_bonuses_(const HeldWide& counts, const HeldCells& cells, Vector<const double> bonus,
                    Matrix<const uint32_t> usual, Vector<const uint32_t> shared, int resolution,
                    Vector<uint32_t> out, Vector<int16_t> raised, int n_threads) {
  require_by_cluster(counts, usual, "usual must be features x clusters");
  require(length(shared) == counts.n_values(), "shared must have one entry per value");
  require(length(out) == cells.n_cells() && length(raised) == length(out),
          "out and raised must have one entry per bonus");
  const ByValueView<double> view = cells.with(bonus, counts.n_values(), counts.n_clusters());
  const nb::gil_scoped_release released;
  fixed_bonuses(counts.shape(), view, usual.data(), shared.data(), resolution, out.data(),
                raised.data(), {n_threads, {}});
}

int64_t sum_of_raised_(const HeldWide& counts, const HeldCells& cells,
                       Vector<const int64_t> by_value, int less, Matrix<const int16_t> usual,
                       Vector<const int16_t> shared, const HeldCells& priced,
                       Vector<const int16_t> bonus, int n_threads) {
  require_by_cluster(counts, usual, "usual must be features x clusters");
  require(length(shared) == counts.n_values(), "shared must have one entry per value");
  require(less >= 0 && less < 64, "less must lie in 0 .. 63");
  const auto counted = cells.with(by_value, counts.n_values(), counts.n_clusters());
  const WideRaised raised{usual.data(), shared.data(),
                          priced.with(bonus, counts.n_values(), counts.n_clusters())};
  const nb::gil_scoped_release released;
  return sum_of_raised(counts.shape(), counted, less, raised, {n_threads, {}});
}

NewArray<double> wide_sums_before_rounding_(
    Vector<const int64_t> starts, Matrix<const uint32_t> usual, Vector<const uint32_t> shared,
    const HeldCells& cells, Vector<const uint32_t> bonus, Matrix<const int16_t> usual_raised,
    Vector<const int16_t> shared_raised, Vector<const int16_t> bonus_raised, int n_threads) {
  const int64_t n_features = length(usual), k = length(usual, 1), n_values = length(shared);
  require(is_list(starts, n_features, n_values), "starts must go from 0 to the number of values");
  require(length(usual_raised) == n_features && length(usual_raised, 1) == k &&
              length(shared_raised) == n_values && length(bonus) == cells.n_cells(),
          "raised must be as prices are");
  const WideFixed prices{usual.data(), shared.data(), bonus.data()};
  const WideRaised raised{usual_raised.data(), shared_raised.data(),
                          cells.with(bonus_raised, n_values, k)};
  return as_array(without_gil(n_threads, [&](const Threads& threads) {
    std::vector<double> sums(static_cast<size_t>(n_values));
    sums_before_rounding({starts.data(), n_features, k}, prices, raised, sums.data(), threads);
    return sums;
  }));
}

void renumber_clusters_(Vector<const int64_t> indptr, Vector<const int32_t> rank,
                        Vector<int32_t> clusters, Vector<uint32_t> numbers) {
  const int64_t n_values = length(indptr) - 1, k = length(rank);
  require(n_values >= 0 && is_list(indptr, n_values, length(clusters)) &&
              length(clusters) == length(numbers),
          "indptr must go from 0 to the number of entries, by value");
  for (int64_t c = 0; c < k; ++c)
    require(rank.data()[c] >= 0 && rank.data()[c] < k, "rank must be an order of the clusters");
  require(are_within(clusters.data(), length(clusters), k - 1), "clusters must lie in 0 .. k - 1");
  const nb::gil_scoped_release released;
  renumber_clusters(n_values, k, indptr.data(), rank.data(), clusters.data(), numbers.data());
}

double exact_sum_(Vector<const double> numbers, int n_threads) {
  const nb::gil_scoped_release released;
  return exact_sum(numbers.data(), length(numbers), {n_threads, {}}).rounded();
}

}  // namespace

void bind_wide(nb::module_& m) {
  nb::class_<HeldWide>(m, "WideCounts", "Counts of all sparse features, by cluster.")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, Vector<const int64_t>,
                    Vector<const int32_t>, Vector<const int32_t>, int64_t>(),
           exact("starts"), exact("codes"), exact("counts"), exact("features"), exact("n_values"),
           "n_clusters"_a);
  nb::class_<HeldCells>(m, "ValueCells", "Which clusters have something of each value, ascending.")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, int64_t>(), exact("indptr"),
           exact("clusters"), "n_clusters"_a);
  m.def("draw_wide", draw_wide_, "counts"_a, "t"_a, "key"_a, exact("centers"), "n_threads"_a);
  m.def("expected_costs_wide", expected_costs_wide_, "counts"_a, "n_threads"_a);
  m.def("mode_counts_wide", mode_counts_wide_, "counts"_a, "n_threads"_a);
  m.def("counts_by_value", counts_by_value_, "counts"_a, "n_threads"_a);
  m.def("wide_prices", wide_prices_, "counts"_a, "cells"_a, exact("by_value"), "latent"_a,
        exact("shares"), "prior"_a, exact("feature_weight"), exact("usual"), exact("bonus"),
        exact("observed"), "n_threads"_a);
  m.def("fixed_bonuses", fixed_bonuses_, "counts"_a, "cells"_a, exact("bonus"), exact("usual"),
        exact("shared"), "resolution"_a, exact("out"), exact("raised"), "n_threads"_a);
  m.def("sum_of_raised", sum_of_raised_, "counts"_a, "cells"_a, exact("by_value"), "less"_a,
        exact("usual"), exact("shared"), "priced"_a, exact("bonus"), "n_threads"_a);
  m.def("wide_sums_before_rounding", wide_sums_before_rounding_, exact("starts"), exact("usual"),
        exact("shared"), "cells"_a, exact("bonus"), exact("usual_raised"), exact("shared_raised"),
        exact("bonus_raised"), "n_threads"_a);
  m.def("renumber_clusters", renumber_clusters_, exact("indptr"), exact("rank"), exact("clusters"),
        exact("numbers"));
  m.def("exact_sum", exact_sum_, exact("numbers"), "n_threads"_a = 1);
}

}  // namespace softmodes
