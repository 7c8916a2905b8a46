// What each binding file adds to the Python module `_core`.
#pragma once

#include <nanobind/nanobind.h>

namespace softmodes {
void bind_layout(nanobind::module_& m);
void bind_passes(nanobind::module_& m);
void bind_rounds(nanobind::module_& m);
void bind_wide(nanobind::module_& m);
void bind_strings(nanobind::module_& m);
}  // namespace softmodes
