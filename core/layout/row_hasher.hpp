// What the hashes of a block's rows are made with.
#pragma once

#include <cstdint>
#include <vector>

#include "hashing.hpp"
#include "layout/layout.hpp"

namespace softmodes {

// A row's hash is the same in any layout, as long as the layout of the fit has all of its codes.
class RowHasher {
 public:
  explicit RowHasher(const Block& block);
  RowHash view() const {
    return {stride_, factors_.data(), codes_.empty() ? nullptr : codes_.data(),
            static_cast<int64_t>(codes_.size())};
  }
  static int64_t bytes(const Layout& layout);  // the most that it takes

 private:
  int64_t stride_;
  std::vector<uint64_t> factors_;
  std::vector<HashedBits> codes_;
};

}  // namespace softmodes
