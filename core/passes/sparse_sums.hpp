// The counts of a sparse feature while they grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "passes/passes.hpp"

namespace softmodes {

// Of every cluster and code, if that takes little memory, else of those that occur.
class SparseSums {
 public:
  static constexpr int64_t kMostCounts = int64_t{1} << 21;
  SparseSums(int64_t k, int64_t n_codes) : k_(k), n_codes_(n_codes) {
    if (k * n_codes <= kMostCounts) counts_.resize(static_cast<size_t>(k * n_codes));
  }
  bool dense() const { return !counts_.empty(); }
  void add(int64_t cluster, int64_t code, int64_t count) {
    if (dense())
      counts_[cluster * n_codes_ + code] += count;
    else
      entries_.push_back({cluster * n_codes_ + code, count});
  }
  // To be called now and then, and at the end.
  void add_up() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.key < b.key; });
    size_t n = 0;
    for (const Entry& entry : entries_) {
      if (n && entries_[n - 1].key == entry.key)
        entries_[n - 1].count += entry.count;
      else
        entries_[n++] = entry;
    }
    entries_.resize(n);
  }
  // Of dense ones.
  void add(const SparseSums& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  SparseCounts counts() const {
    SparseCounts found;
    found.indptr.assign(static_cast<size_t>(k_) + 1, 0);
    const auto take = [&](int64_t key, int64_t count) {
      ++found.indptr[key / n_codes_ + 1];
      found.codes.push_back(static_cast<int32_t>(key % n_codes_));
      found.counts.push_back(count);
    };
    for (size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i]) take(static_cast<int64_t>(i), counts_[i]);
    for (const Entry& entry : entries_) take(entry.key, entry.count);
    for (int64_t c = 0; c < k_; ++c) found.indptr[c + 1] += found.indptr[c];
    return found;
  }

 private:
  struct Entry {
    int64_t key;  // of cluster and code
    int64_t count;
  };
  int64_t k_, n_codes_;
  std::vector<int64_t> counts_;
  std::vector<Entry> entries_;
};

}  // namespace softmodes
