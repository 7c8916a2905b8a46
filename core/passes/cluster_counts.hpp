// Counts of the codes of one cluster. The count kernel keeps counters of bits and one-hot values;
// a CounterMap says where they lie, and adds them to the counts.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/kernels.hpp"
#include "layout/layout.hpp"

namespace softmodes {

class CounterMap {
 public:
  explicit CounterMap(const Layout& layout);
  const CountShape& shape() const { return shape_; }
  int64_t size() const { return size_; }  // 32-bit words

  // Adds the counters of `n_rows` rows to dense counts.
  void add_to_cells(const uint32_t* counters, int64_t n_rows, int64_t* cells) const;

 private:
  void add_plain(const uint32_t* counters, int64_t feature, int64_t n_rows, int64_t* cells) const;
  void add_mixed(const uint32_t* counters, int64_t feature, int64_t* cells) const;
  void add_few(const uint32_t* counters, int64_t feature, int64_t* cells) const;
  void add_byte(const uint32_t* counters, int64_t feature, int64_t* cells) const;

  const Layout& layout_;
  CountShape shape_{};
  std::vector<ByteColumn> bytes_;
  std::vector<int64_t> byte_counters_;  // where those of a feature of one byte begin
  int64_t mixed_, few_;                 // where those of other kinds begin
  int64_t size_;
};

// Working memory of count_rows.
inline int64_t count_rows_bytes(const CounterMap& map) { return 4 * map.size(); }

// Adds rows order[0 .. n) of a block, by weight if they have any, to the dense counts of their
// codes.
void count_rows(const CounterMap& map, const Block& block, const int32_t* order, int64_t n,
                int64_t* cells);

}  // namespace softmodes
