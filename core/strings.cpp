#include "strings.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softmodes {
namespace {

constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15ull;
constexpr int64_t kHead = 8;
constexpr size_t kFirstSlots = 64;

uint64_t scramble(uint64_t h, uint64_t word) {
  h = (h ^ word) * kMultiplier;
  return h ^ (h >> 32);
}

uint64_t load_up_to_eight(const uint8_t* text, int64_t length) {
  uint64_t word = 0;
  std::memcpy(&word, text, static_cast<size_t>(std::min(length, kHead)));
  return word;
}

uint64_t load_eight(const uint8_t* text) {
  uint64_t word;
  std::memcpy(&word, text, kHead);
  return word;
}

// The first bytes of a cell as one word. Reading eight bytes and masking is several times faster
// than copying `length` bytes, and safe wherever the buffer has eight bytes left.
uint64_t head_of(const uint8_t* text, int64_t length, const uint8_t* end) {
  if constexpr (std::endian::native == std::endian::little) {
    if (end - text >= kHead) {
      const uint64_t word = load_eight(text);
      return length >= kHead ? word : word & ((uint64_t{1} << (8 * length)) - 1);
    }
  }
  return load_up_to_eight(text, length);
}

// The last bytes of a longer cell as one word, which may overlap the first: never a copy of as many
// bytes as there happen to be left.
uint64_t tail_of(const uint8_t* text, int64_t length) {
  return length > kHead ? load_eight(text + length - kHead) : 0;
}

uint64_t hash_of(const uint8_t* text, int64_t length, uint64_t head, uint64_t tail) {
  uint64_t h = scramble(static_cast<uint64_t>(length), head);
  for (int64_t at = kHead; at + kHead < length; at += kHead) h = scramble(h, load_eight(text + at));
  return scramble(scramble(h, tail),
                  0);  // slots are low bits, and what differs may be in high ones
}

bool is_valid(const uint8_t* validity, int64_t bit) { return validity[bit >> 3] >> (bit & 7) & 1; }

}  // namespace

StringDictionary::StringDictionary() : slots_(kFirstSlots) {}

template <class Offset>
bool StringDictionary::encode(const StringCells<Offset>& cells, int64_t limit, int32_t* codes) {
  const uint8_t* end = cells.data + cells.n_bytes;
  for (int64_t i = 0; i < cells.n_cells; ++i, ++cell_) {
    if (cells.validity && !is_valid(cells.validity, cells.first_bit + i)) {
      codes[i] = -1;
      continue;
    }
    const uint8_t* text = cells.data + cells.offsets[i];
    const auto length = static_cast<int64_t>(cells.offsets[i + 1] - cells.offsets[i]);
    codes[i] = find_or_add(text, length, head_of(text, length, end), tail_of(text, length));
    if (codes[i] >= limit) return false;
  }
  return true;
}

int32_t StringDictionary::find_or_add(const uint8_t* text, int64_t length, uint64_t head,
                                      uint64_t tail) {
  const uint64_t hash = hash_of(text, length, head, tail);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot].code >= 0; slot = (slot + 1) & mask) {
    const Entry& entry = slots_[slot];
    if (entry.head == head && entry.tail == tail && entry.length == length &&
        (length <= 2 * kHead || std::memcmp(entry.text + kHead, text + kHead,
                                            static_cast<size_t>(length - 2 * kHead)) == 0))
      return entry.code;
  }
  const auto code = static_cast<int32_t>(first_cells_.size());
  slots_[slot] = {text, head, tail, length, hash, code};
  first_cells_.push_back(cell_);
  if (2 * first_cells_.size() > slots_.size()) grow();
  return code;
}

void StringDictionary::grow() {
  std::vector<Entry> old(4 * slots_.size());
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.code < 0) continue;
    size_t slot = entry.hash & mask;
    while (slots_[slot].code >= 0) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

template bool StringDictionary::encode(const StringCells<int32_t>&, int64_t, int32_t*);
template bool StringDictionary::encode(const StringCells<int64_t>&, int64_t, int32_t*);

}  // namespace softmodes
