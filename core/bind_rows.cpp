// The row kernels as Python functions: exact array types, shapes checked once, no GIL.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "packing.hpp"
#include "rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softmodes {
namespace {

template <class T>
T* pointer(const Maybe<Vector<T>>& array) {
  return array ? array->data() : nullptr;
}

bool signal_pending() {
  const nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

// Runs without the GIL; a signal handler's exception goes on to Python.
template <class F>
auto without_gil(const F& f) {
  try {
    const nb::gil_scoped_release released;
    return f();
  } catch (const Interrupt&) {
    throw nb::python_error();
  }
}

void require_finished(bool finished) {
  if (!finished) throw Interrupt{};
}

template <class T>
nb::object as_array(std::vector<T>&& values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  const size_t size = owned->size();
  nb::capsule owner(owned.release(),
                    [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

template <class T>
std::vector<T> copy(const Vector<const T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

using Int32s = Vector<const int32_t>;

void make_layout(Layout* self, Int32s n_codes, Int32s ignored, Int32s byte, Int32s shift,
                 Int32s bits, Vector<const int64_t> offsets, Int32s wide,
                 Vector<const int64_t> sections) {
  const int64_t d = length(n_codes);
  require(length(ignored) == d && length(byte) == d && length(shift) == d && length(bits) == d &&
              length(offsets) == d + 1 && length(sections) == 8,
          "malformed layout");
  auto* l = new (self) Layout;
  l->n_features = d;
  const int64_t* s = sections.data();
  l->stride = s[0];
  l->bit_bytes = s[1];
  l->plain_end = s[2];
  l->nibble_end = s[3];
  l->n_nibbles = s[4];
  for (int i = 0; i < 3; ++i) l->n_wide[i] = s[5 + i];
  l->n_codes = copy(n_codes);
  l->ignored = copy(ignored);
  l->byte = copy(byte);
  l->shift = copy(shift);
  l->bits = copy(bits);
  l->offsets = copy(offsets);
  l->wide = copy(wide);
}

using Packed = Matrix<const uint8_t>;
using Weight = Maybe<Vector<const int64_t>>;
using FeatureWeight = Maybe<Vector<const uint32_t>>;
using Codes = Matrix<const int32_t>;

Block block_of(const Layout& layout, const Packed& packed, int64_t first_row,
               const Weight& weight) {
  require(length(packed, 1) == layout.stride, "packed must have layout.stride columns");
  require(!weight || length(*weight) == length(packed), "weight must have one entry per row");
  return {layout, packed.data(), length(packed), first_row, pointer(weight)};
}

Centers centers_of(const Layout& layout, const Codes& centers,
                   const FeatureWeight& feature_weight) {
  require(length(centers, 1) == layout.n_features, "centers must have one column per feature");
  require(length(centers) >= 1, "centers must have at least one row");
  require(!feature_weight || length(*feature_weight) == layout.n_features,
          "feature_weight must have one entry per feature");
  return {centers.data(), length(centers), pointer(feature_weight)};
}

std::pair<int64_t, uint64_t> bind_tally(const Layout& layout, Packed packed, int64_t first_row,
                                        Weight weight, Codes codes, FeatureWeight feature_weight,
                                        Maybe<uint64_t> tie_key, int n_threads,
                                        Maybe<Matrix<int64_t>> counts, Maybe<Vector<int64_t>> sizes,
                                        Maybe<Vector<int32_t>> labels,
                                        Maybe<Vector<uint32_t>> distances) {
  const Block block = block_of(layout, packed, first_row, weight);
  const Centers centers = centers_of(layout, codes, feature_weight);
  require(!counts || (length(*counts) == centers.n && length(*counts, 1) == layout.n_cells()),
          "counts must be clusters x cells");
  require(!sizes || length(*sizes) == centers.n, "sizes must have one entry per cluster");
  require(!labels || length(*labels) == block.n_rows, "labels must have one entry per row");
  require(!distances || length(*distances) == block.n_rows, "distances must have one per row");
  const TallyOut out{counts ? counts->data() : nullptr, pointer(sizes), pointer(labels),
                     pointer(distances)};
  const TallySum sum =
      without_gil([&] { return tally(block, centers, tie_key, out, {n_threads, signal_pending}); });
  return {sum.cost, sum.fingerprint};
}

std::pair<int64_t, uint64_t> bind_update(const Layout& layout, Packed packed, int64_t first_row,
                                         Weight weight, Codes codes, FeatureWeight feature_weight,
                                         Vector<const int32_t> changed, Maybe<uint64_t> tie_key,
                                         int n_threads, Matrix<int64_t> counts,
                                         Vector<int64_t> sizes, Vector<int32_t> labels,
                                         Vector<uint32_t> distances) {
  const Block block = block_of(layout, packed, first_row, weight);
  const Centers centers = centers_of(layout, codes, feature_weight);
  require(length(counts) == centers.n && length(counts, 1) == layout.n_cells(),
          "counts must be clusters x cells");
  require(length(sizes) == centers.n, "sizes must have one entry per cluster");
  require(length(labels) == block.n_rows && length(distances) == block.n_rows,
          "labels and distances must have one entry per row");
  for (int64_t i = 0; i < block.n_rows; ++i)
    require(labels.data()[i] >= 0 && labels.data()[i] < centers.n, "labels must lie in 0 .. k - 1");
  for (int64_t i = 0; i < length(changed); ++i)
    require(changed.data()[i] >= 0 && changed.data()[i] < centers.n &&
                (i == 0 || changed.data()[i] > changed.data()[i - 1]),
            "changed must ascend within 0 .. k - 1");
  const KeptTally kept{counts.data(), sizes.data(), labels.data(), distances.data()};
  const TallySum sum = without_gil([&] {
    return update(block, centers, copy(changed), tie_key, kept, {n_threads, signal_pending});
  });
  return {sum.cost, sum.fingerprint};
}

void bind_distances(const Layout& layout, Packed packed, Codes codes, FeatureWeight feature_weight,
                    int n_threads, Matrix<uint32_t> out) {
  const Block block = block_of(layout, packed, 0, {});
  const Centers centers = centers_of(layout, codes, feature_weight);
  require(length(out) == block.n_rows && length(out, 1) == centers.n,
          "out must be rows x clusters");
  without_gil([&] { distances(block, centers, out.data(), {n_threads, signal_pending}); });
}

template <class D>
nb::object bind_candidate_totals(const Layout& layout, Packed packed, Weight weight, Codes codes,
                                 FeatureWeight feature_weight, Vector<const D> current,
                                 Matrix<D> out, int n_threads) {
  const Block block = block_of(layout, packed, 0, weight);
  const Centers centers = centers_of(layout, codes, feature_weight);
  require(
      length(current) == block.n_rows && length(out) == centers.n && length(out, 1) == block.n_rows,
      "current must have one entry per row, distances be candidates x rows");
  const int64_t n_sums = (block.n_rows + kTaskRows - 1) / kTaskRows;
  std::vector<int64_t> totals(static_cast<size_t>(n_sums * centers.n));
  without_gil([&] {
    candidate_totals<D>(block, centers, current.data(), out.data(), totals.data(),
                        {n_threads, signal_pending});
  });
  return as_array(std::move(totals));
}

template <class D>
nb::tuple bind_nearer(const Layout& layout, Packed packed, Codes codes,
                      FeatureWeight feature_weight, Vector<const D> current, int n_threads) {
  const Block block = block_of(layout, packed, 0, Weight());
  const Centers centers = centers_of(layout, codes, feature_weight);
  require(length(current) == block.n_rows, "current must have one entry per row");
  NearerRows<D> found = without_gil(
      [&] { return nearer<D>(block, centers, current.data(), {n_threads, signal_pending}); });
  return nb::make_tuple(as_array(std::move(found.start)), as_array(std::move(found.rows)),
                        as_array(std::move(found.distances)));
}

nb::tuple bind_wide_counts(const Layout& layout, Packed packed, Weight weight, int64_t feature,
                           Vector<const int32_t> labels, int64_t k) {
  const Block block = block_of(layout, packed, 0, weight);
  require(feature >= 0 && feature < layout.n_features, "feature is out of range");
  require(length(labels) == block.n_rows, "labels must have one entry per row");
  for (int64_t i = 0; i < block.n_rows; ++i)
    require(labels.data()[i] >= 0 && labels.data()[i] < k, "labels must lie in 0 .. k - 1");
  SparseCounts found = without_gil([&] { return wide_counts(block, feature, labels.data(), k); });
  return nb::make_tuple(as_array(std::move(found.indptr)), as_array(std::move(found.codes)),
                        as_array(std::move(found.counts)));
}

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

CodeColumn column_of(const AnyColumn& array, int64_t n_rows) {
  require(length(array) == n_rows, "columns must have one entry per row");
  if (array.dtype() == nb::dtype<uint8_t>()) return {array.data(), 1};
  if (array.dtype() == nb::dtype<uint16_t>()) return {array.data(), 2};
  require(array.dtype() == nb::dtype<int32_t>(), "columns must be uint8, uint16 or int32");
  return {array.data(), 4};
}

nb::object bind_pack_columns(const Layout& layout, std::vector<AnyColumn> arrays,
                             Matrix<uint8_t> packed, int n_threads) {
  require(static_cast<int64_t>(arrays.size()) == layout.n_features, "one column per feature");
  require(length(packed, 1) == layout.stride, "packed must have layout.stride columns");
  std::vector<CodeColumn> columns;
  for (const auto& a : arrays) columns.push_back(column_of(a, length(packed)));
  std::vector<uint32_t> largest(arrays.size());
  without_gil([&] {
    require_finished(pack_columns(layout, columns, length(packed), packed.data(), largest,
                                  n_threads, signal_pending));
  });
  return as_array(std::move(largest));
}

void bind_pack_matrix(const Layout& layout, Matrix<const uint8_t> matrix,
                      Matrix<const uint8_t> remap, Matrix<uint8_t> packed, int n_threads) {
  require(length(matrix, 1) == layout.n_features && length(remap) == layout.n_features &&
              length(remap, 1) == 256,
          "matrix must be rows x features, remap features x 256");
  require(length(packed, 1) == layout.stride && length(packed) == length(matrix),
          "packed must be rows x layout.stride");
  without_gil([&] {
    require_finished(pack_matrix(layout, matrix.data(), remap.data(), length(matrix), packed.data(),
                                 n_threads, signal_pending));
  });
}

void bind_unpack(const Layout& layout, Packed packed, Vector<const int64_t> rows,
                 Matrix<int32_t> out) {
  const Block block = block_of(layout, packed, 0, {});
  require(length(out) == length(rows) && length(out, 1) == layout.n_features,
          "out must be rows x features");
  for (int64_t i = 0; i < length(rows); ++i)
    require(rows.data()[i] >= 0 && rows.data()[i] < block.n_rows, "rows must lie in the block");
  without_gil([&] { unpack(block, rows.data(), length(rows), out.data()); });
}

void bind_presence(Matrix<const uint8_t> matrix, int n_threads, Matrix<bool> seen) {
  require(length(seen) == length(matrix, 1) && length(seen, 1) == 256,
          "seen must be columns x 256");
  without_gil([&] {
    require_finished(presence(matrix.data(), length(matrix), length(matrix, 1),
                              reinterpret_cast<uint8_t*>(seen.data()), std::max(n_threads, 1),
                              signal_pending));
  });
}

std::vector<std::string> names() {
  int n = 0;
  const char* const* name = instruction_sets(&n);
  return {name, name + n};
}

}  // namespace

void bind_rows(nb::module_& m) {
  const auto array = [](const char* name) { return nb::arg(name).noconvert(); };
  const auto maybe = [](const char* name) { return nb::arg(name).noconvert().none(); };

  nb::class_<Layout>(m, "Layout")
      .def("__init__", make_layout, array("n_codes"), array("ignored"), array("byte"),
           array("shift"), array("bits"), array("offsets"), array("wide"), array("sections"))
      .def_ro("n_features", &Layout::n_features);
  m.def("tally", bind_tally, "layout"_a, array("packed"), "first_row"_a, maybe("weight"),
        array("centers"), maybe("feature_weight"), nb::arg("tie_key").none(), "n_threads"_a,
        maybe("counts"), maybe("sizes"), maybe("labels"), maybe("distances"));
  m.def("update", bind_update, "layout"_a, array("packed"), "first_row"_a, maybe("weight"),
        array("centers"), maybe("feature_weight"), array("changed"), maybe("tie_key"),
        "n_threads"_a, array("counts"), array("sizes"), array("labels"), array("distances"));
  m.def("distances", bind_distances, "layout"_a, array("packed"), array("centers"),
        maybe("feature_weight"), "n_threads"_a, array("out"));
  m.def("candidate_totals", bind_candidate_totals<uint16_t>, "layout"_a, array("packed"),
        maybe("weight"), array("candidates"), maybe("feature_weight"), array("current"),
        array("distances"), "n_threads"_a);
  m.def("candidate_totals", bind_candidate_totals<uint32_t>, "layout"_a, array("packed"),
        maybe("weight"), array("candidates"), maybe("feature_weight"), array("current"),
        array("distances"), "n_threads"_a);
  m.def("nearer", bind_nearer<uint16_t>, "layout"_a, array("packed"), array("centers"),
        maybe("feature_weight"), array("current"), "n_threads"_a);
  m.def("nearer", bind_nearer<uint32_t>, "layout"_a, array("packed"), array("centers"),
        maybe("feature_weight"), array("current"), "n_threads"_a);
  m.def("wide_counts", bind_wide_counts, "layout"_a, array("packed"), maybe("weight"), "feature"_a,
        array("labels"), "k"_a);
  m.def("pack_columns", bind_pack_columns, "layout"_a, array("columns"), array("packed"),
        "n_threads"_a);
  m.def("pack_matrix", bind_pack_matrix, "layout"_a, array("matrix"), array("remap"),
        array("packed"), "n_threads"_a);
  m.def("unpack", bind_unpack, "layout"_a, array("packed"), array("rows"), array("out"));
  m.def("presence", bind_presence, array("matrix"), "n_threads"_a, array("seen"));
  m.def("instruction_sets", names);
  m.def("instruction_set", [] { return std::string(kernels().name); });
  m.def("use_isa", [](const std::string& name) { return use_instruction_set(name.c_str()); });
}

}  // namespace softmodes
