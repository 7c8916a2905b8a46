#include "python/bindings.hpp"

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // models held by globals at exit are no leaks
  softmodes::bind_layout(m);
  softmodes::bind_passes(m);
  softmodes::bind_rounds(m);
  softmodes::bind_wide(m);
  softmodes::bind_strings(m);
}
