// Codes -> packed rows.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "parallel.hpp"

namespace softmodes {

struct CodeColumn {
  const void* codes;
  int bytes;  // 1, 2: unsigned; 4: signed
};

// The largest code of each feature is left in `largest`: codes out of range pack as garbage.
// False if it was given up. `out` is zero on entry.
bool pack_columns(const Layout& layout, const std::vector<CodeColumn>& columns, int64_t n_rows,
                  uint8_t* out, std::vector<uint32_t>& largest, int n_threads,
                  const Interrupted& interrupted);

// A row-major matrix of bytes; remap[feature * 256 + byte] is the code.
bool pack_matrix(const Layout& layout, const uint8_t* matrix, const uint8_t* remap, int64_t n_rows,
                 uint8_t* out, int n_threads, const Interrupted& interrupted);

// seen[column * 256 + value] = 1 for the values that occur.
bool presence(const uint8_t* matrix, int64_t n_rows, int64_t n_columns, uint8_t* seen,
              int n_threads, const Interrupted& interrupted);

}  // namespace softmodes
