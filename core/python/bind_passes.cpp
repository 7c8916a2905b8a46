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

// Keeps arrays alive that make centers; another kind of centers has another constructor.
class HeldCenters {
 public:
  HeldCenters(Matrix<const int32_t> codes, FeatureWeight feature_weight)
      : codes_(std::move(codes)), feature_weight_(std::move(feature_weight)) {
    require(n() >= 1, "centers must have at least one row");
  }

  int64_t n() const { return length(codes_); }
  Centers view(const Layout& layout) const {
    require(length(codes_, 1) == layout.n_features, "centers must have one column per feature");
    return {n(), CodeCenters{codes_.data(), checked(layout, feature_weight_)}};
  }

 private:
  Matrix<const int32_t> codes_;
  FeatureWeight feature_weight_;
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
  const Centers ready = centers.view(block.layout());
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

void distances_(const HeldBlock& block, const HeldCenters& centers, int n_threads,
                Matrix<uint32_t> out) {
  const Centers ready = centers.view(block.layout());
  require(length(out) == block.n_rows() && length(out, 1) == centers.n(),
          "out must be rows x centers");
  without_gil(n_threads,
              [&](const Threads& threads) { distances(block.view(), ready, out.data(), threads); });
}

template <class D>
NewArray<int64_t> candidate_totals_(const HeldBlock& block, const HeldCenters& candidates,
                                    Vector<const D> current, Matrix<D> out, int n_threads) {
  const Centers ready = candidates.view(block.layout());
  require(length(current) == block.n_rows(), "current must have one entry per row");
  require(length(out) == candidates.n() && length(out, 1) == block.n_rows(),
          "distances must be candidates x rows");
  std::vector<int64_t> totals(
      static_cast<size_t>(ceil_div(block.n_rows(), kTaskRows) * candidates.n()));
  without_gil(n_threads, [&](const Threads& threads) {
    candidate_totals<D>(block.view(), ready, current.data(), out.data(), totals.data(), threads);
  });
  return as_array(std::move(totals));
}

template <class D>
std::tuple<NewArray<int64_t>, NewArray<int64_t>, NewArray<D>> nearer_(const HeldBlock& block,
                                                                      const HeldCenters& centers,
                                                                      Vector<const D> current,
                                                                      int n_threads) {
  const Centers ready = centers.view(block.layout());
  require(length(current) == block.n_rows(), "current must have one entry per row");
  NearerRows<D> found = without_gil(n_threads, [&](const Threads& threads) {
    return nearer<D>(block.view(), ready, current.data(), threads);
  });
  return {as_array(std::move(found.start)), as_array(std::move(found.rows)),
          as_array(std::move(found.distances))};
}

std::tuple<NewArray<int64_t>, NewArray<int32_t>, NewArray<int64_t>> sparse_counts_(
    const HeldBlock& block, int64_t feature, Vector<const int32_t> labels, int64_t k) {
  require(feature >= 0 && feature < block.layout().n_features, "feature is out of range");
  require(length(labels) == block.n_rows(), "labels must have one entry per row");
  for (int64_t i = 0; i < block.n_rows(); ++i)
    require(labels.data()[i] >= 0 && labels.data()[i] < k, "labels must lie in 0 .. k - 1");
  SparseCounts found = without_gil(
      1, [&](const Threads&) { return sparse_counts(block.view(), feature, labels.data(), k); });
  return {as_array(std::move(found.indptr)), as_array(std::move(found.codes)),
          as_array(std::move(found.counts))};
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
  nb::class_<HeldCenters>(m, "Centers", "What rows are compared with.")
      .def(nb::init<Matrix<const int32_t>, FeatureWeight>(), exact("codes"),
           exact_or_none("feature_weight") = nb::none());
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
  m.def("distances", distances_, "block"_a, "centers"_a, "n_threads"_a, exact("out"));
  bind_distance_type<uint16_t>(m);
  bind_distance_type<uint32_t>(m);
  m.def("sparse_counts", sparse_counts_, "block"_a, "feature"_a, exact("labels"), "k"_a);
  m.def("instruction_sets", names);
  m.def("instruction_set", [] { return std::string(kernels().name); });
  m.def(
      "use_instruction_set",
      [](const std::string& name) { return use_instruction_set(name.c_str()); }, "name"_a);
}

}  // namespace softmodes
