// What happens between two passes, as Python functions.
#include "python/bindings.hpp"
#include "python/block.hpp"
#include "rounds/draw.hpp"
#include "rounds/expected_cost.hpp"
#include "rounds/prices.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softmodes {
namespace {

class HeldDense {
 public:
  HeldDense(nb::handle_t<Layout> layout, Matrix<const int64_t> counts,
            Vector<const int32_t> n_values)
      : owner_(nb::borrow(layout)),
        layout_(nb::cast<const Layout&>(layout)),
        counts_(std::move(counts)),
        n_values_(std::move(n_values)) {
    require(length(counts_, 1) == layout_.n_cells(), "counts must be clusters x cells");
    require(length(n_values_) == layout_.n_features, "n_values must have one entry per feature");
    const DenseCounts dense = view();
    for (int64_t j = 0; j < layout_.n_features; ++j)
      require(
          dense.is_sparse(j) || (dense.n_values[j] >= 0 && dense.n_values[j] <= layout_.n_codes[j]),
          "a feature has more values than codes");
  }

  DenseCounts view() const {
    return {counts_.data(),  layout_.offsets.data(), n_values_.data(),
            length(counts_), layout_.n_features,     layout_.n_cells()};
  }

 private:
  nb::object owner_;
  const Layout& layout_;
  Matrix<const int64_t> counts_;
  Vector<const int32_t> n_values_;
};

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

// What prices are made of; keeps its arrays alive.
class HeldSource {
 public:
  HeldSource(const HeldDense& counts, bool latent, Vector<const int64_t> totals, double prior,
             Maybe<Vector<const double>> feature_weight)
      : counts_(counts),
        latent_(latent),
        totals_(std::move(totals)),
        prior_(prior),
        feature_weight_(std::move(feature_weight)) {
    const DenseCounts dense = counts_.view();
    require(length(totals_) == dense.n_cells, "totals must have one entry per cell");
    require(!feature_weight_ || length(*feature_weight_) == dense.n_features,
            "feature_weight must have one entry per feature");
    require(!latent || prior > 0, "prior must be positive");
  }
  PriceSource view() const {
    return {latent_ ? PriceRule::latent : PriceRule::gini, counts_.view(), totals_.data(), prior_,
            pointer(feature_weight_)};
  }

 private:
  HeldDense counts_;
  bool latent_;
  Vector<const int64_t> totals_;
  double prior_;
  Maybe<Vector<const double>> feature_weight_;
};

void price_ranges_(const HeldSource& source, Vector<double> least, Vector<double> dearest,
                   int n_threads) {
  const PriceSource prices = source.view();
  require(length(least) == prices.counts.n_cells && length(dearest) == prices.counts.n_cells,
          "least and dearest must have one entry per cell");
  const nb::gil_scoped_release released;
  price_ranges(prices, least.data(), dearest.data(), {n_threads, {}});
}

void fixed_prices_(const HeldSource& source, int resolution, Vector<const int64_t> offsets,
                   Matrix<uint32_t> out, Maybe<Matrix<int16_t>> raised, int n_threads) {
  const PriceSource prices = source.view();
  const DenseCounts& counts = prices.counts;
  require(length(offsets) == counts.n_features + 1, "offsets must have one more than features");
  for (int64_t j = 0; j < counts.n_features; ++j)
    require(offsets.data()[j] >= 0 && offsets.data()[j + 1] - offsets.data()[j] >=
                                          (counts.is_sparse(j) ? 0 : counts.n_values[j]),
            "offsets must leave room for the values of each feature");
  require(length(out) == counts.n_clusters && length(out, 1) == offsets.data()[counts.n_features],
          "out must be clusters x prices");
  require(!raised || (length(*raised) == length(out) && length(*raised, 1) == length(out, 1)),
          "raised must be clusters x prices");
  const nb::gil_scoped_release released;
  fixed_prices(prices, resolution, offsets.data(), out.data(), pointer(raised), {n_threads, {}});
}

NewArray<double> sums_before_rounding_(Matrix<const uint32_t> prices,
                                       Matrix<const int16_t> raised) {
  const int64_t k = length(prices), n = length(prices, 1);
  require(length(raised) == k && length(raised, 1) == n, "raised must be as prices are");
  std::vector<double> sums(static_cast<size_t>(n));
  const nb::gil_scoped_release released;
  sums_before_rounding(prices.data(), raised.data(), k, n, sums.data());
  const nb::gil_scoped_acquire acquired;
  return as_array(std::move(sums));
}

NewArray<double> portable_log2_(Vector<const double> numbers) {
  std::vector<double> logs;
  for (int64_t i = 0; i < length(numbers); ++i) {
    require(numbers.data()[i] > 0, "numbers must be positive");
    logs.push_back(portable_log2(numbers.data()[i]));
  }
  return as_array(std::move(logs));
}

}  // namespace

void bind_rounds(nb::module_& m) {
  nb::class_<HeldDense>(m, "DenseCounts", "Counts of all but the sparse features.")
      .def(nb::init<nb::handle_t<Layout>, Matrix<const int64_t>, Vector<const int32_t>>(),
           "layout"_a, exact("counts"), exact("n_values"));
  m.def("draw_dense", draw_dense_, "counts"_a, "t"_a, "key"_a, exact("centers"), "n_threads"_a);
  m.def("expected_cost_dense", expected_cost_dense_, "counts"_a, exact_or_none("feature_weight"),
        "n_threads"_a);
  nb::class_<HeldSource>(m, "PriceSource", "What prices are made of.")
      .def(nb::init<const HeldDense&, bool, Vector<const int64_t>, double,
                    Maybe<Vector<const double>>>(),
           "counts"_a, "latent"_a, exact("totals"), "prior"_a,
           exact_or_none("feature_weight") = nb::none());
  m.def("price_ranges", price_ranges_, "source"_a, exact("least"), exact("dearest"), "n_threads"_a);
  m.def("fixed_prices", fixed_prices_, "source"_a, "resolution"_a, exact("offsets"), exact("out"),
        exact_or_none("raised"), "n_threads"_a);
  m.def("sums_before_rounding", sums_before_rounding_, exact("prices"), exact("raised"));
  m.def("portable_log2", portable_log2_, exact("numbers"));
}

}  // namespace softmodes
