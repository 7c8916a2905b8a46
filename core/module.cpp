#include "bindings.hpp"

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // models held by globals at exit are no leaks
  softmodes::bind_rows(m);
  softmodes::bind_driver(m);
  softmodes::bind_strings(m);
  softmodes::bind_roofs(m);
}
