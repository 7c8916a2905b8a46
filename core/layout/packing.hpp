// Codes <-> packed rows.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "parallel.hpp"

namespace softmodes {

struct CodeColumn {
  const void* codes;
  int bytes;  // 1, 2: unsigned; 4: signed
};

// The largest code of each feature is left in `largest`: codes out of range pack as garbage.
// `out` is zero on entry.
void pack_columns(const Layout& layout, const std::vector<CodeColumn>& columns, int64_t n_rows,
                  uint8_t* out, std::vector<uint32_t>& largest, const Threads& threads);

// A row-major matrix of bytes; remap[feature * 256 + byte] is the code.
void pack_matrix(const Layout& layout, const uint8_t* matrix, const uint8_t* remap, int64_t n_rows,
                 uint8_t* out, const Threads& threads);

// seen[column * 256 + value] = 1 for the values that occur.
void presence(const uint8_t* matrix, int64_t n_rows, int64_t n_columns, uint8_t* seen,
              const Threads& threads);

// The codes of some rows.
void unpack(const Block& block, const int64_t* rows, int64_t n, int32_t* out);

}  // namespace softmodes
