#include "layout/local_codes.hpp"

#include <algorithm>

namespace softmodes {
namespace {

constexpr int64_t kCellsPerTask = int64_t{1} << 16;

class Localizer {
 public:
  explicit Localizer(int32_t n_codes) : place_(static_cast<size_t>(n_codes), -1) {}

  // Appends the codes of a column to `held`, and returns how many there are.
  int64_t operator()(int32_t* codes, int64_t n_rows, std::vector<int32_t>& held) {
    const size_t first = held.size();
    for (int64_t i = 0; i < n_rows; ++i) {
      if (place_[codes[i]] >= 0) continue;
      place_[codes[i]] = 0;
      held.push_back(codes[i]);
    }
    std::sort(held.begin() + static_cast<int64_t>(first), held.end());
    for (size_t i = first; i < held.size(); ++i) place_[held[i]] = static_cast<int32_t>(i - first);
    for (int64_t i = 0; i < n_rows; ++i) codes[i] = place_[codes[i]];
    for (size_t i = first; i < held.size(); ++i) place_[held[i]] = -1;
    return static_cast<int64_t>(held.size() - first);
  }

 private:
  std::vector<int32_t> place_;  // by code; -1: not held by this column
};

}  // namespace

LocalCodes make_local(int32_t* codes, int64_t n_columns, int64_t n_rows, int32_t n_codes,
                      const Threads& threads) {
  const int64_t n_tasks = std::clamp<int64_t>(n_columns * n_rows / kCellsPerTask, 1, 4 * threads.n);
  std::vector<std::vector<int32_t>> held(static_cast<size_t>(n_tasks));
  LocalCodes found;
  found.starts.resize(static_cast<size_t>(n_columns) + 1);
  run_tasks(n_tasks, threads.at_most(n_tasks), [&](int64_t i, int, const Stop& stop) {
    Localizer localize(n_codes);
    for (int64_t j = n_columns * i / n_tasks; j < n_columns * (i + 1) / n_tasks; ++j) {
      if (stop.requested()) return;
      found.starts[j + 1] = localize(codes + j * n_rows, n_rows, held[i]);
    }
  });
  for (int64_t j = 0; j < n_columns; ++j) found.starts[j + 1] += found.starts[j];
  found.held.reserve(static_cast<size_t>(found.starts[n_columns]));
  for (const auto& some : held) found.held.insert(found.held.end(), some.begin(), some.end());
  return found;
}

}  // namespace softmodes
