// The Python boundary of driver.hpp: exact array types, shapes checked once, nothing converted.
#include "arrays.hpp"
#include "bindings.hpp"
#include "driver.hpp"

namespace nb = nanobind;

namespace softmodes {
namespace {

DenseCounts dense(const Matrix<const int64_t>& counts, const Vector<const int64_t>& offsets,
                  const Vector<const int32_t>& sizes) {
  const auto d = length(sizes);
  const auto n_cells = length(counts, 1);
  require(length(offsets) == d + 1, "offsets must have one entry more than sizes");
  const int64_t* o = offsets.data();
  require(o[0] == 0 && o[d] == n_cells, "offsets must span the cells of counts");
  for (int64_t j = 0; j < d; ++j)
    require(o[j + 1] == o[j] || (sizes.data()[j] >= 0 && sizes.data()[j] <= o[j + 1] - o[j]),
            "a feature has more values than cells");
  return {counts.data(), o, sizes.data(), length(counts), d, n_cells};
}

WideCounts wide(const Vector<const int64_t>& indptr, const Vector<const int32_t>& codes,
                const Vector<const int64_t>& counts, int64_t feature) {
  require(indptr.shape(0) >= 1 && codes.shape(0) == counts.shape(0), "malformed sparse counts");
  const auto k = length(indptr) - 1;
  const auto n = length(codes);
  const int64_t* p = indptr.data();
  require(p[0] == 0 && p[k] == n, "indptr must span the sparse counts");
  for (int64_t i = 0; i < k; ++i) require(p[i] <= p[i + 1], "indptr must not decrease");
  return {p, codes.data(), counts.data(), k, feature};
}

}  // namespace

void bind_driver(nb::module_& m) {
  m.def(
      "draw_dense",
      [](Matrix<const int64_t> counts, Vector<const int64_t> offsets, Vector<const int32_t> sizes,
         double t, uint64_t key, Matrix<int32_t> centers, int n_threads) {
        const DenseCounts tally = dense(counts, offsets, sizes);
        require(centers.shape(0) == counts.shape(0) && centers.shape(1) == sizes.shape(0),
                "centers must be clusters x features");
        nb::gil_scoped_release released;
        draw_dense(tally, t, key, centers.data(), n_threads);
      },
      nb::arg("counts").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert(),
      nb::arg("t"), nb::arg("key"), nb::arg("centers").noconvert(), nb::arg("n_threads"));
  m.def(
      "draw_wide",
      [](Vector<const int64_t> indptr, Vector<const int32_t> codes, Vector<const int64_t> counts,
         int64_t feature, int32_t size, double t, uint64_t key, Matrix<int32_t> centers) {
        const WideCounts tally = wide(indptr, codes, counts, feature);
        require(length(centers) == tally.n_clusters && feature >= 0 && feature < length(centers, 1),
                "centers must be clusters x features");
        nb::gil_scoped_release released;
        draw_wide(tally, size, t, key, centers.data(), length(centers, 1));
      },
      nb::arg("indptr").noconvert(), nb::arg("codes").noconvert(), nb::arg("counts").noconvert(),
      nb::arg("feature"), nb::arg("size"), nb::arg("t"), nb::arg("key"),
      nb::arg("centers").noconvert());
  m.def(
      "expected_cost_dense",
      [](Matrix<const int64_t> counts, Vector<const int64_t> offsets, Vector<const int32_t> sizes,
         Maybe<Vector<const uint32_t>> feature_weight, int n_threads) {
        const DenseCounts tally = dense(counts, offsets, sizes);
        require(!feature_weight || feature_weight->shape(0) == sizes.shape(0),
                "feature_weight must have one entry per feature");
        nb::gil_scoped_release released;
        return expected_cost_dense(tally, feature_weight ? feature_weight->data() : nullptr,
                                   n_threads);
      },
      nb::arg("counts").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert(),
      nb::arg("feature_weight").noconvert().none(), nb::arg("n_threads"));
  m.def(
      "expected_cost_wide",
      [](Vector<const int64_t> indptr, Vector<const int32_t> codes, Vector<const int64_t> counts,
         int32_t size) {
        const WideCounts tally = wide(indptr, codes, counts, 0);
        nb::gil_scoped_release released;
        return expected_cost_wide(tally, size);
      },
      nb::arg("indptr").noconvert(), nb::arg("codes").noconvert(), nb::arg("counts").noconvert(),
      nb::arg("size"));
}

}  // namespace softmodes
