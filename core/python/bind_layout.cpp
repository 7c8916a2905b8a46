// Layout, blocks of packed rows, and packing as Python sees them.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "layout/local_codes.hpp"
#include "layout/packing.hpp"
#include "python/bindings.hpp"
#include "python/block.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softmodes {
namespace {

using Int32s = Vector<const int32_t>;
using LayoutState = std::tuple<std::vector<int32_t>, std::vector<int32_t>>;

std::vector<int32_t> copy(const Int32s& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// An array of the layout, to be read only; it keeps the layout alive.
template <auto kMember>
auto property(nb::handle_t<Layout> self) {
  const auto& values = nb::cast<const Layout&>(self).*kMember;
  using T = std::remove_reference_t<decltype(values[0])>;
  return NewArray<T>(values.data(), {values.size()}, self);
}

nb::typed<nb::tuple, int, nb::ellipsis> sparse_features(const Layout& layout) {
  nb::list features;
  for (const int32_t j : layout.sparse_features) features.append(j);
  return nb::borrow<nb::typed<nb::tuple, int, nb::ellipsis>>(nb::tuple(features));
}

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

CodeColumn column_of(const AnyColumn& array, int64_t n_rows) {
  require(length(array) == n_rows, "columns must have one entry per row");
  if (array.dtype() == nb::dtype<uint8_t>()) return {array.data(), 1};
  if (array.dtype() == nb::dtype<uint16_t>()) return {array.data(), 2};
  require(array.dtype() == nb::dtype<int32_t>(), "columns must be uint8, uint16 or int32");
  return {array.data(), 4};
}

NewArray<uint32_t> packed_from(const Layout& layout, const std::vector<CodeColumn>& columns,
                               Matrix<uint8_t> packed, int n_threads) {
  require(static_cast<int64_t>(columns.size()) == layout.n_features, "one column per feature");
  require(length(packed, 1) == layout.stride, "packed must have layout.stride columns");
  std::vector<uint32_t> largest(columns.size());
  without_gil(n_threads, [&](const Threads& threads) {
    pack_columns(layout, columns, length(packed), packed.data(), largest, threads);
  });
  return as_array(std::move(largest));
}

NewArray<uint32_t> pack_columns_(const Layout& layout, std::vector<AnyColumn> arrays,
                                 Matrix<uint8_t> packed, int n_threads) {
  std::vector<CodeColumn> columns;
  for (const auto& a : arrays) columns.push_back(column_of(a, length(packed)));
  return packed_from(layout, columns, packed, n_threads);
}

NewArray<uint32_t> pack_transposed_(const Layout& layout, Matrix<const uint8_t> codes,
                                    Matrix<uint8_t> packed, int n_threads) {
  require(length(codes, 1) == length(packed), "codes must be features x rows");
  std::vector<CodeColumn> columns;
  for (int64_t j = 0; j < length(codes); ++j)
    columns.push_back({codes.data() + j * length(codes, 1), 1});
  return packed_from(layout, columns, packed, n_threads);
}

void pack_matrix_(const Layout& layout, Matrix<const uint8_t> matrix, Matrix<const uint8_t> remap,
                  Matrix<uint8_t> packed, int n_threads) {
  require(length(matrix, 1) == layout.n_features && length(remap) == layout.n_features &&
              length(remap, 1) == 256,
          "matrix must be rows x features, remap features x 256");
  require(length(packed, 1) == layout.stride && length(packed) == length(matrix),
          "packed must be rows x layout.stride");
  without_gil(n_threads, [&](const Threads& threads) {
    pack_matrix(layout, matrix.data(), remap.data(), length(matrix), packed.data(), threads);
  });
}

void unpack_(const HeldBlock& block, Vector<const int64_t> rows, Matrix<int32_t> out) {
  require(length(out) == length(rows) && length(out, 1) == block.layout().n_features,
          "out must be rows x features");
  for (int64_t i = 0; i < length(rows); ++i)
    require(rows.data()[i] >= 0 && rows.data()[i] < block.n_rows(), "rows must lie in the block");
  const nb::gil_scoped_release released;
  unpack(block.view(), rows.data(), length(rows), out.data());
}

void presence_(Matrix<const uint8_t> matrix, int n_threads, Matrix<bool> seen) {
  require(length(seen) == length(matrix, 1) && length(seen, 1) == 256,
          "seen must be columns x 256");
  without_gil(n_threads, [&](const Threads& threads) {
    presence(matrix.data(), length(matrix), length(matrix, 1),
             reinterpret_cast<uint8_t*>(seen.data()), threads);
  });
}

std::tuple<NewArray<int64_t>, NewArray<int32_t>> make_local_(Matrix<int32_t> codes, int32_t n_codes,
                                                             int n_threads) {
  const int64_t n_columns = length(codes), n_rows = length(codes, 1);
  for (int64_t i = 0; i < n_columns * n_rows; ++i)
    require(codes.data()[i] >= 0 && codes.data()[i] < n_codes, "codes must lie below n_codes");
  LocalCodes found = without_gil(n_threads, [&](const Threads& threads) {
    return make_local(codes.data(), n_columns, n_rows, n_codes, threads);
  });
  return {as_array(std::move(found.starts)), as_array(std::move(found.held))};
}

}  // namespace

void bind_layout(nb::module_& m) {
  nb::class_<Layout>(m, "Layout", "Where each feature lies in a packed row.")
      .def(
          "__init__",
          [](Layout* self, Int32s n_codes, Int32s ignored) {
            new (self) Layout(copy(n_codes), copy(ignored));
          },
          exact("n_codes"), exact("ignored"))
      .def(nb::init<std::vector<int32_t>, std::vector<int32_t>>(), "n_codes"_a, "ignored"_a)
      .def("__getstate__",
           [](const Layout& layout) { return LayoutState(layout.n_codes, layout.ignored); })
      .def("__setstate__",
           [](Layout& self, const LayoutState& state) {
             new (&self) Layout(std::get<0>(state), std::get<1>(state));
           })
      .def_ro_static("MOST_CODES", &Layout::kMostCodes, "The most codes that a feature may have.")
      .def_ro("n_features", &Layout::n_features)
      .def_ro("stride", &Layout::stride, "Bytes of a row.")
      .def_ro("bit_bytes", &Layout::bit_bytes, "Bytes of eight binary features each.")
      .def_ro("n_nibbles", &Layout::n_nibbles, "Nibbles of a row besides.")
      .def_prop_ro("n_cells", &Layout::n_cells, "Cells of a cluster in dense counts.")
      .def_prop_ro("n_codes", property<&Layout::n_codes>,
                   "Cells of feature j hold codes 0 .. n_codes[j] - 1.")
      .def_prop_ro("ignored", property<&Layout::ignored>,
                   "The code (or -1) that is at distance 0 from every center.")
      .def_prop_ro("offsets", property<&Layout::offsets>,
                   "Where the cells of each feature start in dense counts.")
      .def_prop_ro("bits", property<&Layout::bits>, "Bits of each feature.")
      .def_prop_ro("byte", property<&Layout::byte>, "The first byte of each feature.")
      .def_prop_ro("shift", property<&Layout::shift>, "Bits below each feature in its byte.")
      .def_prop_ro("sparse_features", sparse_features,
                   "Features of more than 256 codes, which dense counts leave out.");
  nb::class_<HeldBlock>(m, "Block", "Packed rows, numbered from first_row in the whole table.")
      .def(nb::init<nb::handle_t<Layout>, Matrix<const uint8_t>, int64_t,
                    Maybe<Vector<const int64_t>>, Maybe<nb::handle_t<Layout>>>(),
           "layout"_a, exact("packed"), "first_row"_a = 0, exact_or_none("weight") = nb::none(),
           "fit_layout"_a.none() = nb::none());
  m.def("pack_columns", pack_columns_, "layout"_a, exact("columns"), exact("packed"),
        "n_threads"_a);
  m.def("pack_transposed", pack_transposed_, "layout"_a, exact("codes"), exact("packed"),
        "n_threads"_a);
  m.def("pack_matrix", pack_matrix_, "layout"_a, exact("matrix"), exact("remap"), exact("packed"),
        "n_threads"_a);
  m.def("unpack", unpack_, "block"_a, exact("rows"), exact("out"));
  m.def("make_local", make_local_, exact("codes"), "n_codes"_a, "n_threads"_a);
  m.def("presence", presence_, exact("matrix"), "n_threads"_a, exact("seen"));
}

}  // namespace softmodes
