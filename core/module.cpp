#include "bindings.hpp"

NB_MODULE(_core, m) {
  softmodes::bind_rows(m);
  softmodes::bind_driver(m);
  softmodes::bind_strings(m);
  softmodes::bind_roofs(m);
}
