// What the hashes of a block's rows are made with.
#pragma once

#include <cstdint>
#include <vector>

#include "hashing.hpp"
#include "layout/layout.hpp"

namespace softmodes {

class RowHasher {
 public:
  explicit RowHasher(const Block& block);
  RowHash view() const { return {stride_, factors_.data()}; }
  static int64_t bytes(const Layout& layout);  // the most that it takes

 private:
  int64_t stride_;
  std::vector<uint64_t> factors_;
};

}  // namespace softmodes
