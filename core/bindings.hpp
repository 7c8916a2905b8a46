// What each binding file adds to the Python module `_core`.
#pragma once

#include <nanobind/nanobind.h>

namespace softmodes {
void bind_rows(nanobind::module_& m);
void bind_driver(nanobind::module_& m);
void bind_strings(nanobind::module_& m);
void bind_roofs(nanobind::module_& m);
}  // namespace softmodes
