// What happens between two passes, as Python functions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "isa/kernels.hpp"
#include "memory.hpp"
#include "python/bindings.hpp"
#include "python/held_counts.hpp"
#include "rounds/draw.hpp"
#include "rounds/expected_cost.hpp"
#include "rounds/merging.hpp"
#include "rounds/price_sums.hpp"
#include "rounds/prices.hpp"
#include "rounds/tickets.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softmodes {
namespace {

void draw_dense_(const HeldDense& counts, double t, uint64_t key, Matrix<int32_t> centers,
                 int n_threads) {
  const DenseCounts tally = counts.view();
  require(length(centers) == tally.n_clusters && length(centers, 1) == tally.n_features,
          "centers must be clusters x features");
  const nb::gil_scoped_release released;
  draw_dense(tally, t, key, centers.data(), {n_threads, {}});
}

double expected_cost_dense_(const HeldDense& counts, Maybe<Vector<const uint32_t>> feature_weight,
                            int n_threads) {
  const DenseCounts tally = counts.view();
  require(!feature_weight || length(*feature_weight) == tally.n_features,
          "feature_weight must have one entry per feature");
  const nb::gil_scoped_release released;
  return expected_cost_dense(tally, pointer(feature_weight), {n_threads, {}});
}

int64_t modes_cost_dense_(const HeldDense& counts, Maybe<Vector<const uint32_t>> feature_weight,
                          int n_threads) {
  const DenseCounts tally = counts.view();
  require(!feature_weight || length(*feature_weight) == tally.n_features,
          "feature_weight must have one entry per feature");
  const nb::gil_scoped_release released;
  return modes_cost_dense(tally, pointer(feature_weight), {n_threads, {}});
}

NewArray<int64_t> merged_likelihoods_(const HeldDense& dense, const HeldWide* wide,
                                      Vector<const int64_t> cluster_sizes, double scale,
                                      Maybe<Vector<const double>> feature_weight, int bits,
                                      std::optional<int64_t> cluster) {
  MergeSource source{dense.view(), {}, cluster_sizes.data(), scale, pointer(feature_weight), bits};
  const int64_t k = source.dense.n_clusters, d = source.dense.n_features;
  require(length(cluster_sizes) == k, "cluster_sizes must have one entry per cluster");
  require(!feature_weight || length(*feature_weight) == d,
          "feature_weight must have one entry per feature");
  require(!cluster || (*cluster >= 0 && *cluster < k), "the cluster is out of range");
  if (wide) {
    source.wide = wide->view();
    require(source.wide->n_clusters == k, "all counts must have the same clusters");
    for (int64_t f = 0; f < source.wide->n_features; ++f)
      require(source.wide->features[f] >= 0 && source.wide->features[f] < d,
              "a sparse feature is out of range");
  }
  return as_array(without_gil(1, [&](const Threads&) {
    return cluster ? merged_likelihoods_of(source, *cluster) : merged_likelihoods(source);
  }));
}

// What prices are made of; keeps its arrays alive.
class HeldSource {
 public:
  HeldSource(const HeldDense& counts, bool latent, Vector<const int64_t> totals, double prior,
             Maybe<Vector<const double>> feature_weight, int64_t factor, int less)
      : counts_(counts),
        latent_(latent),
        totals_(std::move(totals)),
        prior_(prior),
        feature_weight_(std::move(feature_weight)),
        nearly_sure_{factor, less} {
    const DenseCounts dense = counts_.view();
    require(length(totals_) == dense.n_cells, "totals must have one entry per cell");
    require(!feature_weight_ || length(*feature_weight_) == dense.n_features,
            "feature_weight must have one entry per feature");
    require(!latent || prior > 0, "prior must be positive");
    require(factor >= 0 && (latent || !factor), "rows are nearly sure by the latent rule only");
    require(less >= 0 && less < 64, "less must lie in 0 .. 63");
  }
  PriceSource view() const {
    return {latent_ ? PriceRule::latent : PriceRule::gini,
            counts_.view(),
            nearly_sure_,
            totals_.data(),
            prior_,
            pointer(feature_weight_)};
  }

 private:
  HeldDense counts_;
  bool latent_;
  Vector<const int64_t> totals_;
  double prior_;
  Maybe<Vector<const double>> feature_weight_;
  NearlySure nearly_sure_;
};

// Where the prices of each feature begin must leave room for its values.
void check_offsets(const DenseCounts& counts, const Vector<const int64_t>& offsets) {
  require(length(offsets) == counts.n_features + 1, "offsets must have one more than features");
  for (int64_t j = 0; j < counts.n_features; ++j)
    require(offsets.data()[j] >= 0 && offsets.data()[j + 1] - offsets.data()[j] >=
                                          (counts.is_sparse(j) ? 0 : counts.n_values[j]),
            "offsets must leave room for the values of each feature");
}

template <class T>
void require_prices(const Matrix<T>& prices, int64_t k, const Vector<const int64_t>& offsets,
                    const char* message) {
  require(length(prices) == k && length(prices, 1) == offsets.data()[length(offsets) - 1], message);
}

FixedPrices fixed_out(const PriceSource& source, int resolution, Vector<const int64_t> offsets,
                      Matrix<uint32_t> out, const Maybe<Matrix<int16_t>>& raised) {
  const int64_t k = source.counts.n_clusters;
  check_offsets(source.counts, offsets);
  require_prices(out, k, offsets, "out must be clusters x prices");
  if (raised) require_prices(*raised, k, offsets, "raised must be clusters x prices");
  return {resolution, offsets.data(), length(out, 1), out.data(), pointer(raised)};
}

NewArray<double> fixed_prices_and_spans_(const HeldSource& source, int resolution,
                                         Vector<const int64_t> offsets, Matrix<uint32_t> out,
                                         Maybe<Matrix<int16_t>> raised,
                                         Maybe<Matrix<const double>> kept, int n_threads) {
  const PriceSource prices = source.view();
  const FixedPrices fixed = fixed_out(prices, resolution, offsets, out, raised);
  const int64_t n_kept = kept ? length(*kept) : 0;
  if (kept) require_prices(*kept, n_kept, offsets, "kept must be clusters x prices");
  const KeptPrices as_were{pointer(kept), n_kept};
  return as_array(without_gil(n_threads, [&](const Threads& threads) {
    return fixed_prices_and_spans(prices, as_were, fixed, threads);
  }));
}

void fixed_prices_(const HeldSource& source, int resolution, Vector<const int64_t> offsets,
                   Matrix<uint32_t> out, Maybe<Matrix<int16_t>> raised, int n_threads) {
  const PriceSource prices = source.view();
  const FixedPrices fixed = fixed_out(prices, resolution, offsets, out, raised);
  const nb::gil_scoped_release released;
  fixed_prices(prices, fixed, {n_threads, {}});
}

void fixed_numbers_(Vector<const double> prices, int resolution, Vector<uint32_t> out,
                    Vector<int16_t> raised) {
  const int64_t n = length(prices);
  require(length(out) == n && length(raised) == n, "out and raised must be as many as prices");
  fixed_numbers(prices.data(), n, resolution, out.data(), raised.data());
}

std::pair<uint64_t, uint64_t> sum_of_least_(Matrix<const uint32_t> prices,
                                            Vector<const int64_t> totals, int n_threads) {
  require(length(prices) >= 1, "prices must have at least one row");
  require(length(totals) == length(prices, 1), "totals must have one entry per price");
  const nb::gil_scoped_release released;
  const Sum128 sum = sum_of_least(prices.data(), length(prices), length(prices, 1), totals.data(),
                                  {n_threads, {}});
  return {sum.high, sum.low};
}

int64_t sum_of_raised_dense_(const HeldDense& counts, int less, Vector<const int64_t> offsets,
                             Matrix<const int16_t> raised, int n_threads) {
  const DenseCounts dense = counts.view();
  check_offsets(dense, offsets);
  require_prices(raised, dense.n_clusters, offsets, "raised must be clusters x prices");
  require(less >= 0 && less < 64, "less must lie in 0 .. 63");
  const nb::gil_scoped_release released;
  return sum_of_raised_dense(dense, less, offsets.data(), raised.data(), {n_threads, {}});
}

double sum_by_shares_(Matrix<const uint32_t> prices, Matrix<const int16_t> raised,
                      Vector<const double> shares, Vector<const double> more, int n_threads) {
  const int64_t k = length(prices), n = length(prices, 1);
  require(length(raised) == k && length(raised, 1) == n, "raised must be clusters x prices");
  require(length(shares) == n, "shares must have one entry per price");
  const nb::gil_scoped_release released;
  return sum_by_shares({prices.data(), raised.data(), k, n}, shares.data(), more.data(),
                       length(more), {n_threads, {}});
}

NewArray<double> value_shares_(Vector<const int64_t> totals, Vector<const int64_t> starts,
                               int n_threads) {
  require(length(starts) >= 1 && is_list(starts, length(starts) - 1, length(totals)),
          "starts must go from 0 to the number of values");
  return as_array(without_gil(n_threads, [&](const Threads& threads) {
    return value_shares(totals.data(), starts.data(), length(starts) - 1, threads);
  }));
}

NewArray<double> latent_bases_(Vector<const int64_t> sizes) {
  return as_array(latent_bases(sizes.data(), length(sizes)));
}

NewArray<double> portable_log2_(Vector<const double> numbers, int n_threads) {
  const int64_t n = length(numbers);
  bool positive = true;
  for (int64_t i = 0; i < n; ++i) positive &= numbers.data()[i] > 0;
  require(positive, "numbers must be positive");
  return as_array(without_gil(n_threads, [&](const Threads& threads) {
    return portable_log2(numbers.data(), n, threads);
  }));
}

// The rows of two tables of the same shape that are not alike.
NewArray<int32_t> changed_rows_(Matrix<const int32_t> now, Matrix<const int32_t> before) {
  const int64_t n = length(now), d = length(now, 1);
  require(length(before) == n && length(before, 1) == d, "now and before must have one shape");
  std::vector<int32_t> changed;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t* row = now.data() + i * d;
    if (!std::equal(row, row + d, before.data() + i * d))
      changed.push_back(static_cast<int32_t>(i));
  }
  return as_array(std::move(changed));
}

NewArray<int64_t> draw_tickets_(uint64_t key, int64_t n, uint64_t bound) {
  require(n >= 0, "n must not be negative");
  std::vector<int64_t> tickets(static_cast<size_t>(n));
  draw_tickets(key, n, bound, tickets.data());
  return as_array(std::move(tickets));
}

template <class T>
std::pair<NewArray<int64_t>, NewArray<int64_t>> search_tickets_(Vector<const T> by_row,
                                                                Vector<const int64_t> sums,
                                                                int64_t at_once,
                                                                Vector<const int64_t> tickets) {
  require(at_once >= 1 && length(by_row) >= 1, "there must be a row at least");
  require(length(sums) == ceil_div(length(by_row), at_once), "sums must be of at_once rows each");
  std::vector<int64_t> rows(static_cast<size_t>(length(tickets))), rests(rows.size());
  search_tickets<T>({by_row.data(), length(by_row), sums.data(), at_once}, tickets.data(),
                    length(tickets), rows.data(), rests.data());
  return {as_array(std::move(rows)), as_array(std::move(rests))};
}

template <class T>
void bind_search(nb::module_& m) {
  m.def("search_tickets", search_tickets_<T>, exact("by_row"), exact("sums"), "at_once"_a,
        exact("tickets"));
}

}  // namespace

void bind_rounds(nb::module_& m) {
  nb::class_<HeldDense>(m, "DenseCounts", "Counts of all but the sparse features.")
      .def(nb::init<nb::handle_t<Layout>, Matrix<const int64_t>, Vector<const int32_t>>(),
           "layout"_a, exact("counts"), exact("n_values"));
  m.def("draw_dense", draw_dense_, "counts"_a, "t"_a, "key"_a, exact("centers"), "n_threads"_a);
  m.def("expected_cost_dense", expected_cost_dense_, "counts"_a, exact_or_none("feature_weight"),
        "n_threads"_a);
  m.def("modes_cost_dense", modes_cost_dense_, "counts"_a, exact_or_none("feature_weight"),
        "n_threads"_a);
  m.def("merged_likelihoods", merged_likelihoods_, "dense"_a, "wide"_a.none(),
        exact("cluster_sizes"), "scale"_a, exact_or_none("feature_weight"), "bits"_a,
        "cluster"_a.none() = nb::none());
  nb::class_<HeldSource>(m, "PriceSource", "What prices are made of.")
      .def(nb::init<const HeldDense&, bool, Vector<const int64_t>, double,
                    Maybe<Vector<const double>>, int64_t, int>(),
           "counts"_a, "latent"_a, exact("totals"), "prior"_a,
           exact_or_none("feature_weight") = nb::none(), "factor"_a = 0, "less"_a = 0);
  m.def("fixed_prices_and_spans", fixed_prices_and_spans_, "source"_a, "resolution"_a,
        exact("offsets"), exact("out"), exact_or_none("raised"), exact_or_none("kept"),
        "n_threads"_a);
  m.def("fixed_prices", fixed_prices_, "source"_a, "resolution"_a, exact("offsets"), exact("out"),
        exact_or_none("raised"), "n_threads"_a);
  m.def("fixed_numbers", fixed_numbers_, exact("prices"), "resolution"_a, exact("out"),
        exact("raised"));
  m.def("sum_of_least", sum_of_least_, exact("prices"), exact("totals"), "n_threads"_a);
  m.def("sum_of_raised_dense", sum_of_raised_dense_, "counts"_a, "less"_a, exact("offsets"),
        exact("raised"), "n_threads"_a);
  m.def("sum_by_shares", sum_by_shares_, exact("prices"), exact("raised"), exact("shares"),
        exact("more"), "n_threads"_a);
  m.def("value_shares", value_shares_, exact("totals"), exact("starts"), "n_threads"_a);
  m.def("latent_bases", latent_bases_, exact("sizes"));
  m.def("changed_rows", changed_rows_, exact("now"), exact("before"));
  m.def("draw_tickets", draw_tickets_, "key"_a, "n"_a, "bound"_a);
  bind_search<uint8_t>(m);
  bind_search<uint16_t>(m);
  bind_search<uint32_t>(m);
  bind_search<int64_t>(m);
  m.def("portable_log2", portable_log2_, exact("numbers"), "n_threads"_a = 1);
}

}  // namespace softmodes
