#include "layout/local_codes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace softmodes {
namespace {

constexpr int64_t kCellsPerTask = int64_t{1} << 16;
constexpr int64_t kWord = 64;  // codes with a bit in the same word

// The codes of one column, found in ascending order: each has a bit.
class Held {
 public:
  explicit Held(int32_t n_codes)
      : bits_(static_cast<size_t>((n_codes + kWord - 1) / kWord)),
        place_(static_cast<size_t>(n_codes)) {}

  // Appends the codes of a column without repeating any, and returns how many there are.
  int64_t list(const int32_t* codes, int64_t n, std::vector<int32_t>& out) {
    const size_t first = out.size();
    const auto n_words = static_cast<int64_t>(bits_.size());
    if (n_words <= n) {
      for (int64_t i = 0; i < n; ++i) bits_[codes[i] / kWord] |= bit(codes[i]);
      for (int64_t word = 0; word < n_words; ++word) take(word, out);
    } else {
      words_.clear();
      for (int64_t i = 0; i < n; ++i) {
        uint64_t& bits = bits_[codes[i] / kWord];
        if (!bits) words_.push_back(codes[i] / kWord);
        bits |= bit(codes[i]);
      }
      std::sort(words_.begin(), words_.end());
      for (const int64_t word : words_) take(word, out);
    }
    for (size_t i = first; i < out.size(); ++i) place_[out[i]] = static_cast<int32_t>(i - first);
    return static_cast<int64_t>(out.size() - first);
  }
  // Among the codes that were listed last.
  int32_t place(int32_t code) const { return place_[code]; }

 private:
  static uint64_t bit(int32_t code) { return uint64_t{1} << code % kWord; }
  void take(int64_t word, std::vector<int32_t>& out) {
    for (uint64_t left = std::exchange(bits_[word], 0); left; left &= left - 1)
      out.push_back(static_cast<int32_t>(word * kWord) + std::countr_zero(left));
  }

  std::vector<uint64_t> bits_;  // none between two columns
  std::vector<int64_t> words_;
  std::vector<int32_t> place_;  // by code
};

}  // namespace

LocalCodes make_local(int32_t* codes, int64_t n_columns, int64_t n_rows, int32_t n_codes,
                      const Threads& threads) {
  const int64_t n_tasks = std::clamp<int64_t>(n_columns * n_rows / kCellsPerTask, 1, 4 * threads.n);
  const auto first_of = [&](int64_t i) { return n_columns * i / n_tasks; };
  const Threads useful = threads.at_most(n_tasks);
  std::vector<std::vector<int32_t>> parts(static_cast<size_t>(n_tasks));
  LocalCodes found;
  found.starts.resize(static_cast<size_t>(n_columns) + 1);
  run_tasks(n_tasks, useful, [&](int64_t i, int, const Stop& stop) {
    Held held(n_codes);
    for (int64_t j = first_of(i); j < first_of(i + 1) && !stop.requested(); ++j) {
      int32_t* column = codes + j * n_rows;
      found.starts[j + 1] = held.list(column, n_rows, parts[i]);
      for (int64_t row = 0; row < n_rows; ++row) column[row] = held.place(column[row]);
    }
  });
  for (int64_t j = 0; j < n_columns; ++j) found.starts[j + 1] += found.starts[j];
  found.held.resize(static_cast<size_t>(found.starts[n_columns]));
  run_tasks(n_tasks, useful, [&](int64_t i, int, const Stop&) {
    std::copy(parts[i].begin(), parts[i].end(), found.held.begin() + found.starts[first_of(i)]);
  });
  return found;
}

}  // namespace softmodes
