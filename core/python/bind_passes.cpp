// Passes over the rows of a block as Python functions: shapes checked once, no GIL.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "isa/kernels.hpp"
#include "memory.hpp"
#include "passes/passes.hpp"
#include "python/bindings.hpp"
#include "python/block.hpp"
#include "python/held_counts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softmodes {
namespace {

using FeatureWeight = Maybe<Vector<const uint32_t>>;

const uint32_t* checked(const Layout& layout, const FeatureWeight& feature_weight) {
  require(!feature_weight || length(*feature_weight) == layout.n_features,
          "feature_weight must have one entry per feature");
  return pointer(feature_weight);
}

// What the values of all sparse features cost; keeps its arrays alive.
struct HeldPrices {
  HeldPrices(Vector<const int32_t> numbers, Vector<const int64_t> starts,
             Matrix<const uint32_t> usual_prices, Vector<const uint32_t> shared_prices,
             const HeldCells& value_cells, Vector<const uint32_t> bonuses)
      : features(std::move(numbers)),
        value_starts(std::move(starts)),
        usual(std::move(usual_prices)),
        shared(std::move(shared_prices)),
        cells(value_cells),
        bonus(std::move(bonuses)) {
    require(length(usual) == n() && is_list(value_starts, n(), length(shared)),
            "value_starts must go from 0 to the number of values");
    require(cells.n_values() == length(shared) && cells.n_clusters() == length(usual, 1),
            "cells must have the same values and clusters");
    require(length(bonus) == cells.n_cells(), "there must be one bonus for each cell");
    for (int64_t f = 0; f < n(); ++f)
      require(never_exceed(view(f), n_values(f)), "a bonus must not exceed the price");
  }

  int64_t n() const { return length(features); }
  int64_t n_values(int64_t f) const { return value_starts.data()[f + 1] - value_starts.data()[f]; }
  SparsePrices view(int64_t f) const {
    const int64_t first = value_starts.data()[f];
    const ValueCells all = cells.view();
    return {features.data()[f],    usual.data() + f * length(usual, 1),
            shared.data() + first, all.indptr + first,
            all.clusters,          bonus.data()};
  }

  Vector<const int32_t> features;
  Vector<const int64_t> value_starts;
  Matrix<const uint32_t> usual;
  Vector<const uint32_t> shared;
  HeldCells cells;
  Vector<const uint32_t> bonus;
};

struct HeldCodes {
  Matrix<const int32_t> codes;
  FeatureWeight feature_weight;

  int64_t n() const { return length(codes); }
  Centers view(const Layout& layout) const {
    require(length(codes, 1) == layout.n_features, "centers must have one column per feature");
    return {n(), CodeCenters{codes.data(), checked(layout, feature_weight)}};
  }
};

struct HeldScores {
  Matrix<const uint32_t> prices;
  Vector<const uint32_t> base;
  Vector<const int64_t> offsets;
  Vector<const int32_t> n_values;
  HeldPrices sparse;
  int resolution;

  int64_t n() const { return length(prices); }
  void check() const {
    const int64_t d = length(n_values);
    require(length(base) == n(), "base must have one entry per center");
    require(length(offsets) == d + 1 && offsets.data()[0] == 0 &&
                offsets.data()[d] == length(prices, 1),
            "offsets must go from 0 to the number of prices");
    std::vector<bool> is_sparse(static_cast<size_t>(d));
    require(!sparse.n() || length(sparse.usual, 1) == n(),
            "sparse prices must have one usual price per center");
    for (int64_t f = 0; f < sparse.n(); ++f) {
      const int32_t j = sparse.features.data()[f];
      require(j >= 0 && j < d, "a sparse feature is out of range");
      is_sparse[j] = true;
      require(sparse.n_values(f) == n_values.data()[j], "sparse prices must have one per value");
    }
    for (int64_t j = 0; j < d; ++j)
      require(offsets.data()[j + 1] - offsets.data()[j] == (is_sparse[j] ? 0 : n_values.data()[j]),
              "offsets must leave room for the values of each feature that is not sparse");
    require(resolution >= -64 && resolution <= 10, "resolution must lie in -64 .. 10");
  }
  Centers view(const Layout& layout) const {
    require(length(n_values) == layout.n_features, "n_values must have one entry per feature");
    for (int64_t j = 0; j < layout.n_features; ++j)
      require(n_values.data()[j] >= 0 && n_values.data()[j] <= layout.n_codes[j],
              "n_values must not exceed n_codes");
    ScoreCenters scores{
        prices.data(), base.data(), offsets.data(), n_values.data(), length(prices, 1),
        resolution,    {}};
    for (int64_t f = 0; f < sparse.n(); ++f) {
      scores.sparse.push_back(sparse.view(f));
      require(layout.bits[scores.sparse.back().feature] > 8,
              "a feature with sparse prices must be wide");
    }
    return {n(), std::move(scores)};
  }
};

// Keeps arrays alive that make centers, of either kind.
class HeldCenters {
 public:
  explicit HeldCenters(HeldCodes codes) : held_(std::move(codes)) { check_n(); }
  explicit HeldCenters(HeldScores scores) : held_(std::move(scores)) {
    check_n();
    std::get<HeldScores>(held_).check();
  }

  int64_t n() const {
    return std::visit([](const auto& held) { return held.n(); }, held_);
  }
  Centers view(const Layout& layout) const {
    return std::visit([&](const auto& held) { return held.view(layout); }, held_);
  }
  Centers codes(const Layout& layout) const {
    require(std::holds_alternative<HeldCodes>(held_), "centers must be codes");
    return view(layout);
  }
  Centers scores(const Layout& layout) const {
    require(std::holds_alternative<HeldScores>(held_), "centers must be scores");
    return view(layout);
  }

 private:
  void check_n() const { require(n() >= 1, "centers must have at least one row"); }

  std::variant<HeldCodes, HeldScores> held_;
};

// Arrays that a tally goes to.
struct HeldOut {
  Maybe<Matrix<int64_t>> counts;
  Maybe<Vector<int64_t>> cluster_sizes;
  Maybe<Vector<int32_t>> labels;
  Maybe<Vector<uint32_t>> distances;

  TallyOut view(const HeldBlock& block, int64_t k) const {
    require(!counts || (length(*counts) == k && length(*counts, 1) == block.layout().n_cells()),
            "counts must be clusters x cells");
    require(!cluster_sizes || length(*cluster_sizes) == k,
            "cluster_sizes must have one entry per cluster");
    require(!labels || length(*labels) == block.n_rows(), "labels must have one entry per row");
    require(!distances || length(*distances) == block.n_rows(), "distances must have one per row");
    return {pointer(counts), pointer(cluster_sizes), pointer(labels), pointer(distances)};
  }
  bool complete() const { return counts && cluster_sizes && labels && distances; }
};

TallySum tally_(const HeldBlock& block, const HeldCenters& centers, Maybe<uint64_t> tie_key,
                const HeldOut& out, int n_threads) {
  const Centers ready = centers.view(block.layout());
  const TallyOut to = out.view(block, centers.n());
  return without_gil(n_threads, [&](const Threads& threads) {
    return tally(block.view(), ready, tie_key, to, threads);
  });
}

TallySum update_(const HeldBlock& block, const HeldCenters& centers, Vector<const int32_t> changed,
                 Maybe<uint64_t> tie_key, const HeldOut& kept, int n_threads) {
  const Centers ready = centers.codes(block.layout());
  const TallyOut to = kept.view(block, centers.n());
  require(kept.complete(), "an update needs counts, cluster_sizes, labels and distances");
  const std::vector<int32_t> ascending(changed.data(), changed.data() + changed.shape(0));
  for (size_t i = 0; i < ascending.size(); ++i)
    require(ascending[i] >= (i ? ascending[i - 1] + 1 : 0) && ascending[i] < centers.n(),
            "changed must be ascending numbers of centers");
  for (int64_t i = 0; i < block.n_rows(); ++i)
    require(to.labels[i] >= 0 && to.labels[i] < centers.n(), "labels must lie in 0 .. k - 1");
  return without_gil(n_threads, [&](const Threads& threads) {
    return update(block.view(), ready, ascending, tie_key, to, threads);
  });
}

int64_t pass_bytes(const Layout& layout, int64_t n_centers, const FeatureWeight& feature_weight,
                   int n_threads) {
  require(n_centers >= 1, "n_centers must be at least 1");
  const uint32_t* weight = checked(layout, feature_weight);
  const Threads threads{n_threads, {}};
  return std::max(tally_bytes(layout, n_centers, weight, threads),
                  update_bytes(layout, n_centers, weight, threads));
}

int64_t score_bytes_(const Layout& layout, int64_t n_centers, int n_threads) {
  require(n_centers >= 1, "n_centers must be at least 1");
  return score_bytes(layout, n_centers, {n_threads, {}});
}

// Where clusters begin, codes and counts.
nb::tuple as_arrays(JoinedCounts&& all) {
  return nb::make_tuple(as_array(std::move(all.starts)), as_array(std::move(all.codes), all.n),
                        as_array(std::move(all.counts), all.n));
}

// What a soft tally adds up, as Python takes it.
struct SoftFound {
  SoftFound(const SoftSum& sum, JoinedCounts&& counts)
      : least(sum.least.high, sum.least.low),
        log(sum.log.high, sum.log.low),
        sparse(as_arrays(std::move(counts))) {}
  std::tuple<uint64_t, uint64_t> least, log;
  nb::tuple sparse;
};

SoftFound soft_tally_(const HeldBlock& block, const HeldCenters& centers, Maybe<uint64_t> tie_key,
                      Matrix<int64_t> counts, Vector<int64_t> cluster_sizes, int n_threads) {
  const Centers ready = centers.scores(block.layout());
  require(length(counts) == centers.n() && length(counts, 1) == block.layout().n_cells(),
          "counts must be clusters x cells");
  require(length(cluster_sizes) == centers.n(), "cluster_sizes must have one entry per cluster");
  const SoftOut out{counts.data(), cluster_sizes.data()};
  JoinedCounts sparse;
  const SoftSum sum = without_gil(n_threads, [&](const Threads& threads) {
    SoftSum found = soft_tally(block.view(), ready, tie_key, out, threads);
    sparse = joined(found.sparse, threads);
    found.sparse.clear();
    return found;
  });
  return {sum, std::move(sparse)};
}

void score_rows_(const HeldBlock& block, const HeldCenters& centers, Maybe<uint64_t> tie_key,
                 Maybe<Matrix<int64_t>> totals, Maybe<Matrix<uint32_t>> memberships,
                 Maybe<Vector<double>> logs, int n_threads) {
  const Centers ready = centers.scores(block.layout());
  const auto fits = [&](const auto& out) {
    return !out || (length(*out) == block.n_rows() && length(*out, 1) == centers.n());
  };
  require(fits(totals) && fits(memberships), "totals and memberships must be rows x centers");
  require(!logs || length(*logs) == block.n_rows(), "logs must have one entry per row");
  const RowScores out{pointer(totals), pointer(memberships), pointer(logs)};
  without_gil(n_threads, [&](const Threads& threads) {
    score_rows(block.view(), ready, tie_key, out, threads);
  });
}

void distances_(const HeldBlock& block, const HeldCenters& centers, int n_threads,
                Matrix<uint32_t> out) {
  const Centers ready = centers.codes(block.layout());
  require(length(out) == block.n_rows() && length(out, 1) == centers.n(),
          "out must be rows x centers");
  without_gil(n_threads,
              [&](const Threads& threads) { distances(block.view(), ready, out.data(), threads); });
}

template <class D>
NewArray<int64_t> candidate_totals_(const HeldBlock& block, const HeldCenters& candidates,
                                    Vector<const D> current, Matrix<D> out, int n_threads) {
  const Centers ready = candidates.codes(block.layout());
  require(length(current) == block.n_rows(), "current must have one entry per row");
  require(length(out) == candidates.n() && length(out, 1) == block.n_rows(),
          "distances must be candidates x rows");
  const auto n = static_cast<size_t>(candidates.n());
  std::vector<int64_t> by_task(static_cast<size_t>(ceil_div(block.n_rows(), kTaskRows)) * n);
  without_gil(n_threads, [&](const Threads& threads) {
    candidate_totals<D>(block.view(), ready, current.data(), out.data(), by_task.data(), threads);
  });
  std::vector<int64_t> totals(n);
  for (size_t i = 0; i < by_task.size(); ++i) totals[i % n] += by_task[i];
  return as_array(std::move(totals));
}

template <class D>
std::tuple<NewArray<int64_t>, NewArray<int64_t>, NewArray<D>> nearer_(const HeldBlock& block,
                                                                      const HeldCenters& centers,
                                                                      Vector<const D> current,
                                                                      int n_threads) {
  const Centers ready = centers.codes(block.layout());
  require(length(current) == block.n_rows(), "current must have one entry per row");
  NearerRows<D> found = without_gil(n_threads, [&](const Threads& threads) {
    return nearer<D>(block.view(), ready, current.data(), threads);
  });
  return {as_array(std::move(found.start)), as_array(std::move(found.rows)),
          as_array(std::move(found.distances))};
}

nb::tuple sparse_counts_(const HeldBlock& block, Vector<const int32_t> labels, int64_t k,
                         int n_threads) {
  require(length(labels) == block.n_rows(), "labels must have one entry per row");
  for (int64_t i = 0; i < block.n_rows(); ++i)
    require(labels.data()[i] >= 0 && labels.data()[i] < k, "labels must lie in 0 .. k - 1");
  return as_arrays(without_gil(n_threads, [&](const Threads& threads) {
    return joined(sparse_counts(block.view(), labels.data(), k, threads), threads);
  }));
}

std::vector<std::string> names() {
  int n = 0;
  const char* const* name = instruction_sets(&n);
  return {name, name + n};
}

template <class D>
void bind_distance_type(nb::module_& m) {
  m.def("candidate_totals", candidate_totals_<D>, "block"_a, "candidates"_a, exact("current"),
        exact("distances"), "n_threads"_a);
  m.def("nearer", nearer_<D>, "block"_a, "centers"_a, exact("current"), "n_threads"_a);
}

}  // namespace

void bind_passes(nb::module_& m) {
  nb::class_<HeldPrices>(m, "WidePrices", "What the values of all sparse features cost.")
      .def(nb::init<Vector<const int32_t>, Vector<const int64_t>, Matrix<const uint32_t>,
                    Vector<const uint32_t>, const HeldCells&, Vector<const uint32_t>>(),
           exact("features"), exact("value_starts"), exact("usual"), exact("shared"), "cells"_a,
           exact("bonus"));
  nb::class_<HeldCenters>(m, "Centers", "What rows are compared with.")
      .def(
          "__init__",
          [](HeldCenters* self, Matrix<const int32_t> codes, FeatureWeight feature_weight) {
            new (self) HeldCenters(HeldCodes{std::move(codes), std::move(feature_weight)});
          },
          exact("codes"), exact_or_none("feature_weight") = nb::none())
      .def(
          "__init__",
          [](HeldCenters* self, Matrix<const uint32_t> prices, Vector<const uint32_t> base,
             Vector<const int64_t> offsets, Vector<const int32_t> n_values,
             const HeldPrices& sparse, int resolution) {
            new (self)
                HeldCenters(HeldScores{std::move(prices), std::move(base), std::move(offsets),
                                       std::move(n_values), sparse, resolution});
          },
          exact("prices"), exact("base"), exact("offsets"), exact("n_values"), "sparse"_a,
          "resolution"_a);
  nb::class_<SoftFound>(m, "SoftSum", "What a soft tally adds up; sums in two words of 64 bits.")
      .def_ro("least", &SoftFound::least)
      .def_ro("log", &SoftFound::log)
      .def_ro("sparse", &SoftFound::sparse);
  nb::class_<HeldOut>(m, "TallyOut",
                      "Where a tally goes: counts and cluster_sizes are added to, labels and "
                      "distances overwritten.")
      .def(nb::init<Maybe<Matrix<int64_t>>, Maybe<Vector<int64_t>>, Maybe<Vector<int32_t>>,
                    Maybe<Vector<uint32_t>>>(),
           exact_or_none("counts") = nb::none(), exact_or_none("cluster_sizes") = nb::none(),
           exact_or_none("labels") = nb::none(), exact_or_none("distances") = nb::none());
  nb::class_<TallySum>(m, "TallySum", "What a tally adds up.")
      .def_ro("cost", &TallySum::cost)
      .def_ro("fingerprint", &TallySum::fingerprint);
  m.def("tally", tally_, "block"_a, "centers"_a, nb::arg("tie_key").none(), "out"_a, "n_threads"_a);
  m.def("update", update_, "block"_a, "centers"_a, exact("changed"), nb::arg("tie_key").none(),
        "kept"_a, "n_threads"_a);
  m.def("pass_bytes", pass_bytes, "layout"_a, "n_centers"_a,
        exact_or_none("feature_weight") = nb::none(), "n_threads"_a = 1);
  m.def("soft_tally", soft_tally_, "block"_a, "centers"_a, nb::arg("tie_key").none(),
        exact("counts"), exact("cluster_sizes"), "n_threads"_a);
  m.def("score_rows", score_rows_, "block"_a, "centers"_a, nb::arg("tie_key").none(),
        exact_or_none("totals"), exact_or_none("memberships"), exact_or_none("logs"),
        "n_threads"_a);
  m.def("score_bytes", score_bytes_, "layout"_a, "n_centers"_a, "n_threads"_a = 1);
  m.def("distances", distances_, "block"_a, "centers"_a, "n_threads"_a, exact("out"));
  bind_distance_type<uint16_t>(m);
  bind_distance_type<uint32_t>(m);
  m.def("sparse_counts", sparse_counts_, "block"_a, exact("labels"), "k"_a, "n_threads"_a);
  m.def("instruction_sets", names);
  m.def("instruction_set", [] { return std::string(kernels().name); });
  m.def(
      "use_instruction_set",
      [](const std::string& name) { return use_instruction_set(name.c_str()); }, "name"_a);
}

}  // namespace softmodes
