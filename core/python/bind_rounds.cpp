// What happens between two passes, as Python functions.
#include "python/bindings.hpp"
#include "python/block.hpp"
#include "rounds/draw.hpp"
#include "rounds/expected_cost.hpp"

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

class HeldSparse {
 public:
  HeldSparse(Vector<const int64_t> indptr, Vector<const int32_t> codes,
             Vector<const int64_t> counts, int64_t feature, int32_t n_values)
      : indptr_(std::move(indptr)),
        codes_(std::move(codes)),
        counts_(std::move(counts)),
        feature_(feature),
        n_values_(n_values) {
    require(length(indptr_) >= 1 && length(codes_) == length(counts_), "malformed sparse counts");
    const SparseFeature sparse = view();
    const int64_t* p = sparse.indptr;
    require(p[0] == 0 && p[sparse.n_clusters] == length(codes_),
            "indptr must span the sparse counts");
    for (int64_t i = 0; i < sparse.n_clusters; ++i)
      require(p[i] <= p[i + 1], "indptr must not decrease");
  }

  SparseFeature view() const {
    return {indptr_.data(),      codes_.data(), counts_.data(),
            length(indptr_) - 1, feature_,      n_values_};
  }

 private:
  Vector<const int64_t> indptr_;
  Vector<const int32_t> codes_;
  Vector<const int64_t> counts_;
  int64_t feature_;
  int32_t n_values_;
};

void draw_dense_(const HeldDense& counts, double t, uint64_t key, Matrix<int32_t> centers,
                 int n_threads) {
  const DenseCounts tally = counts.view();
  require(length(centers) == tally.n_clusters && length(centers, 1) == tally.n_features,
          "centers must be clusters x features");
  const nb::gil_scoped_release released;
  draw_dense(tally, t, key, centers.data(), {n_threads, {}});
}

void draw_sparse_(const HeldSparse& counts, double t, uint64_t key, Matrix<int32_t> centers) {
  const SparseFeature tally = counts.view();
  require(length(centers) == tally.n_clusters && tally.feature >= 0 &&
              tally.feature < length(centers, 1),
          "centers must be clusters x features");
  const nb::gil_scoped_release released;
  draw_sparse(tally, t, key, centers.data(), length(centers, 1));
}

double expected_cost_dense_(const HeldDense& counts, Maybe<Vector<const uint32_t>> feature_weight,
                            int n_threads) {
  const DenseCounts tally = counts.view();
  require(!feature_weight || length(*feature_weight) == tally.n_features,
          "feature_weight must have one entry per feature");
  const nb::gil_scoped_release released;
  return expected_cost_dense(tally, pointer(feature_weight), {n_threads, {}});
}

double expected_cost_sparse_(const HeldSparse& counts) {
  const nb::gil_scoped_release released;
  return expected_cost_sparse(counts.view());
}

}  // namespace

void bind_rounds(nb::module_& m) {
  nb::class_<HeldDense>(m, "DenseCounts", "Counts of all but the sparse features.")
      .def(nb::init<nb::handle_t<Layout>, Matrix<const int64_t>, Vector<const int32_t>>(),
           "layout"_a, exact("counts"), exact("n_values"));
  nb::class_<HeldSparse>(m, "SparseFeature", "Counts of one sparse feature.")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, Vector<const int64_t>, int64_t,
                    int32_t>(),
           exact("indptr"), exact("codes"), exact("counts"), "feature"_a, "n_values"_a);
  m.def("draw_dense", draw_dense_, "counts"_a, "t"_a, "key"_a, exact("centers"), "n_threads"_a);
  m.def("draw_sparse", draw_sparse_, "counts"_a, "t"_a, "key"_a, exact("centers"));
  m.def("expected_cost_dense", expected_cost_dense_, "counts"_a, exact_or_none("feature_weight"),
        "n_threads"_a);
  m.def("expected_cost_sparse", expected_cost_sparse_, "counts"_a);
}

}  // namespace softmodes
