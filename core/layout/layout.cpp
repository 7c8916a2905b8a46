#include "layout/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "memory.hpp"

namespace softmodes {
namespace {

using Features = std::vector<int32_t>;

void check(const Features& n_codes, const Features& ignored) {
  if (n_codes.empty() || n_codes.size() != ignored.size())
    throw std::invalid_argument("n_codes and ignored have " + std::to_string(n_codes.size()) +
                                " and " + std::to_string(ignored.size()) +
                                " entries. Pass one entry per feature in each, for at least one "
                                "feature.");
  for (size_t j = 0; j < n_codes.size(); ++j)
    if (n_codes[j] < 1 || n_codes[j] > Layout::kMostCodes || ignored[j] >= n_codes[j])
      throw std::invalid_argument(
          "Feature " + std::to_string(j) + " has n_codes=" + std::to_string(n_codes[j]) +
          " and ignored=" + std::to_string(ignored[j]) + ". Pass n_codes from 1 to " +
          std::to_string(Layout::kMostCodes) + " and an ignored code below it, or -1.");
}

// Fields placed in nibbles so far, and the bits that are still free in them.
class Nibbles {
 public:
  Nibbles(Features& nibble, Features& shift) : nibble_(nibble), shift_(shift) {}

  int32_t size() const { return n_; }

  // Places fields of equal width side by side in new nibbles.
  void add(const Features& features, int bits) {
    const int per_nibble = 4 / bits;
    int used = 0;
    for (const int32_t j : features) {
      if (used == 0) ++n_;
      put(j, n_ - 1, used * bits);
      if (bits == 3) spare_.push_back({n_ - 1, 3});
      used = (used + 1) % per_nibble;
    }
    for (int bit = used * bits; used && bit < 4; ++bit) spare_.push_back({n_ - 1, bit});
  }

  // Places fields of one bit in spare bits; returns the features that found none.
  Features fill(const Features& features) {
    const size_t n = std::min(features.size(), spare_.size() - next_spare_);
    for (size_t i = 0; i < n; ++i, ++next_spare_)
      put(features[i], spare_[next_spare_].nibble, spare_[next_spare_].bit);
    return {features.begin() + static_cast<std::ptrdiff_t>(n), features.end()};
  }

 private:
  struct Spare {
    int32_t nibble;
    int32_t bit;
  };

  void put(int32_t feature, int32_t nibble, int32_t shift) {
    nibble_[feature] = nibble;
    shift_[feature] = shift;
  }

  Features& nibble_;
  Features& shift_;
  std::vector<Spare> spare_;
  size_t next_spare_ = 0;
  int32_t n_ = 0;
};

int32_t bits_of(int32_t n_codes) {
  for (const auto& [most, bits] : {std::pair(2, 1), {4, 2}, {8, 3}, {16, 4}, {256, 8}, {65536, 16}})
    if (n_codes <= most) return bits;
  return 24;
}

// Features by how they are placed.
struct Kinds {
  Features binary, masked;               // two codes, without and with one that is ignored
  Features three, four, eight, sixteen;  // at most so many codes
  Features of_bytes[3];

  Kinds(const Features& n_codes, const Features& ignored) {
    for (int32_t j = 0; j < static_cast<int32_t>(n_codes.size()); ++j)
      kind(n_codes[j], ignored[j]).push_back(j);
    if (three.size() % 2 && four.size() % 2) {  // the two that are left over share a nibble
      four.insert(four.begin(), three.back());
      three.pop_back();
    }
  }

 private:
  Features& kind(int32_t n, int32_t ignored) {
    if (n <= 2) return ignored < 0 ? binary : masked;
    if (n <= 4) return n == 3 ? three : four;
    if (n <= Layout::kNibbleCodes) return n <= 8 ? eight : sixteen;
    return of_bytes[bits_of(n) / 8 - 1];
  }
};

}  // namespace

Layout::Layout(Features codes, Features ignored_codes)
    : n_features(static_cast<int64_t>(codes.size())),
      n_codes(std::move(codes)),
      ignored(std::move(ignored_codes)),
      byte(n_codes.size()),
      shift(n_codes.size()) {
  check(n_codes, ignored);
  offsets.push_back(0);
  for (int32_t j = 0; j < n_features; ++j) {
    const bool sparse = n_codes[j] > kDenseCodes;
    bits.push_back(bits_of(n_codes[j]));
    offsets.push_back(offsets.back() + (sparse ? 0 : n_codes[j]));
    if (sparse) sparse_features.push_back(j);
  }
  const Kinds kinds(n_codes, ignored);
  Features nibble(n_codes.size(), -1);
  Nibbles nibbles(nibble, shift);
  // A field of 3 bits leaves one free.
  const auto beside =
      static_cast<std::ptrdiff_t>(std::min(kinds.masked.size(), kinds.eight.size()));
  nibbles.add(kinds.three, 2);
  nibbles.add(Features(kinds.masked.begin() + beside, kinds.masked.end()), 1);
  const int32_t n_plain = nibbles.size();
  nibbles.add(kinds.four, 2);
  nibbles.add(kinds.eight, 3);
  nibbles.fill(Features(kinds.masked.begin(), kinds.masked.begin() + beside));
  nibbles.add(kinds.sixteen, 4);
  place_bits(nibbles.fill(kinds.binary));
  place_nibbles(nibble, nibbles.size(), n_plain);
  int64_t end = nibble_end;
  for (int size = 1; size <= 3; ++size) end = place_bytes(kinds.of_bytes[size - 1], size, end);
  stride = std::max<int64_t>(1, ceil_div(end, kPieceBytes)) * kPieceBytes;
}

void Layout::place_bits(const Features& features) {
  bit_bytes = ceil_div(static_cast<int64_t>(features.size()), 8);
  for (size_t i = 0; i < features.size(); ++i) {
    byte[features[i]] = static_cast<int32_t>(i / 8);
    shift[features[i]] = static_cast<int32_t>(i % 8);
  }
}

void Layout::place_nibbles(const Features& nibble, int32_t n, int32_t n_plain) {
  n_nibbles = n;
  nibble_end = bit_bytes + ceil_div(n, 2);
  plain_end = n_plain == n ? nibble_end : bit_bytes + n_plain / 2;
  for (size_t j = 0; j < nibble.size(); ++j) {
    if (nibble[j] < 0) continue;
    byte[j] = static_cast<int32_t>(bit_bytes) + nibble[j] / 2;
    shift[j] += nibble[j] % 2 * 4;
  }
}

int64_t Layout::place_bytes(const Features& features, int size, int64_t end) {
  for (const int32_t j : features) {
    byte[j] = static_cast<int32_t>(end);
    end += size;
  }
  byte_features.insert(byte_features.end(), features.begin(), features.end());
  n_of_bytes[size - 1] = static_cast<int64_t>(features.size());
  return end;
}

}  // namespace softmodes
