#include "layout/row_hasher.hpp"

#include <algorithm>

namespace softmodes {
namespace {

// Codes of up to a byte, and bytes of longer ones.
int64_t n_parts(const Layout& layout) {
  const auto whole = static_cast<int64_t>(layout.byte_features.size());
  return layout.n_features - whole + layout.whole_bytes();
}

// All codes of a layout, each with the factor of its place in that of the fit.
std::vector<HashedBits> hashed_codes(const Layout& layout, const Layout& fit) {
  std::vector<HashedBits> codes;
  codes.reserve(static_cast<size_t>(n_parts(layout)));
  for (int64_t j = 0; j < layout.n_features; ++j)
    for (int32_t bit = 0; bit < layout.bits[j]; bit += 8) {
      const int32_t byte = bit / 8, bits = std::min(layout.bits[j] - bit, 8);
      codes.push_back({layout.byte[j] + byte, static_cast<uint8_t>(layout.shift[j]),
                       static_cast<uint8_t>((1 << bits) - 1),
                       byte_factor(fit.byte[j] + byte) << fit.shift[j]});
    }
  return codes;
}

}  // namespace

RowHasher::RowHasher(const Block& block) : stride_(block.layout.stride) {
  factors_.reserve(static_cast<size_t>(stride_ / kHashedBytes));
  for (int64_t word = 0; word < stride_ / kHashedBytes; ++word)
    factors_.push_back(word_factor(word));
  if (block.fit_layout) codes_ = hashed_codes(block.layout, *block.fit_layout);
}

int64_t RowHasher::bytes(const Layout& layout) {
  return layout.stride / kHashedBytes * 8 + n_parts(layout) * int64_t{sizeof(HashedBits)};
}

}  // namespace softmodes
