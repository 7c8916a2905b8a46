#include "layout/row_hasher.hpp"

namespace softmodes {

RowHasher::RowHasher(const Block& block) : stride_(block.layout.stride) {
  factors_.reserve(static_cast<size_t>(stride_ / kHashedBytes));
  for (int64_t word = 0; word < stride_ / kHashedBytes; ++word)
    factors_.push_back(word_factor(word));
}

int64_t RowHasher::bytes(const Layout& layout) { return layout.stride / kHashedBytes * 8; }

}  // namespace softmodes
