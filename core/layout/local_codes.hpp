// Codes by the values of a whole table -> codes by those of each column.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace softmodes {

// The codes that each column holds, ascending, from starts[column] on.
struct LocalCodes {
  std::vector<int64_t> starts;
  std::vector<int32_t> held;
};

// Every code below n_codes becomes its place among those that its column holds; columns lie one
// after the other.
LocalCodes make_local(int32_t* codes, int64_t n_columns, int64_t n_rows, int32_t n_codes,
                      const Threads& threads);

}  // namespace softmodes
