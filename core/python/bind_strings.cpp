// The Python boundary of strings.hpp.
#include <algorithm>

#include "python/arrays.hpp"
#include "python/bindings.hpp"
#include "strings.hpp"

namespace nb = nanobind;

namespace softmodes {
namespace {

using Bytes = Vector<const uint8_t>;

template <class Offset>
bool encode(StringDictionary& dictionary, Vector<const Offset> offsets, Bytes data,
            Maybe<Bytes> validity, int64_t first_bit, int64_t limit, Vector<int32_t> codes) {
  const auto n = length(codes);
  const auto n_bytes = length(data);
  require(length(offsets) == n + 1, "offsets must be one more than codes");
  require(!validity || first_bit + n <= 8 * length(*validity), "validity is too short");
  const Offset* o = offsets.data();
  nb::gil_scoped_release released;
  require(first_bit >= 0 && o[0] >= 0 && o[n] <= n_bytes, "offsets leave the data");
  for (int64_t i = 0; i < n; ++i) require(o[i] <= o[i + 1], "offsets must not decrease");
  return dictionary.encode(StringCells<Offset>{o, n, data.data(), n_bytes,
                                               validity ? validity->data() : nullptr, first_bit},
                           limit, codes.data());
}

template <class Code>
void look_up(Vector<const int32_t> codes, Vector<const Code> table, Vector<Code> out) {
  const auto n = length(codes);
  const auto n_values = length(table) - 1;
  require(length(out) == n && n_values >= 0, "shapes do not match");
  const int32_t* c = codes.data();
  const Code* t = table.data();
  Code* o = out.data();
  nb::gil_scoped_release released;
  for (int64_t i = 0; i < n; ++i) {
    const bool known = c[i] >= 0 && c[i] < n_values;
    o[i] = t[known ? c[i] : n_values];
  }
}

}  // namespace

void bind_strings(nb::module_& m) {
  nb::class_<StringDictionary>(m, "StringDictionary")
      .def(nb::init<>())
      .def("encode", &encode<int32_t>, nb::arg("offsets").noconvert(), nb::arg("data").noconvert(),
           nb::arg("validity").noconvert().none(), nb::arg("first_bit"), nb::arg("limit"),
           nb::arg("codes").noconvert())
      .def("encode", &encode<int64_t>, nb::arg("offsets").noconvert(), nb::arg("data").noconvert(),
           nb::arg("validity").noconvert().none(), nb::arg("first_bit"), nb::arg("limit"),
           nb::arg("codes").noconvert())
      .def("first_cells", [](const StringDictionary& dictionary) {
        const auto& cells = dictionary.first_cells();
        auto* copy = new int64_t[cells.size() + 1];
        std::copy(cells.begin(), cells.end(), copy);
        nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<int64_t*>(p); });
        return nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(copy, {cells.size()}, owner);
      });
  m.def("look_up", &look_up<uint8_t>, nb::arg("codes").noconvert(), nb::arg("table").noconvert(),
        nb::arg("out").noconvert());
  m.def("look_up", &look_up<uint16_t>, nb::arg("codes").noconvert(), nb::arg("table").noconvert(),
        nb::arg("out").noconvert());
  m.def("look_up", &look_up<int32_t>, nb::arg("codes").noconvert(), nb::arg("table").noconvert(),
        nb::arg("out").noconvert());
}

}  // namespace softmodes
