// Distinct strings of a column and the number of each cell, faster than a general-purpose hash
// table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softmodes {

// A run of cells in Arrow's layout: cell i is data[offsets[i] .. offsets[i + 1]).
template <class Offset>
struct StringCells {
  const Offset* offsets;
  int64_t n_cells;
  const uint8_t* data;
  int64_t n_bytes;
  const uint8_t* validity;  // one bit per cell from `first_bit` on, or null: all cells are valid
  int64_t first_bit;
};

// Numbers distinct strings in the order of their appearance. Keeps pointers to the cells it was
// given: their memory must outlive it.
class StringDictionary {
 public:
  StringDictionary();

  // Writes the number of every cell's string, -1 where it is missing. Returns false, and leaves the
  // dictionary unusable, as soon as there are more than `limit` distinct strings.
  template <class Offset>
  bool encode(const StringCells<Offset>& cells, int64_t limit, int32_t* codes);

  // Cell numbers, counted over all calls, at which each distinct string appeared first.
  const std::vector<int64_t>& first_cells() const { return first_cells_; }

 private:
  struct Entry {
    const uint8_t* text = nullptr;
    uint64_t head = 0;  // up to eight first bytes
    uint64_t tail = 0;  // the eight last ones, if there are more
    int64_t length = 0;
    uint64_t hash = 0;
    int32_t code = -1;  // -1: the slot is free
  };

  int32_t find_or_add(const uint8_t* text, int64_t length, uint64_t head, uint64_t tail);
  void grow();

  std::vector<Entry> slots_;
  std::vector<int64_t> first_cells_;
  int64_t cell_ = 0;
};

}  // namespace softmodes
