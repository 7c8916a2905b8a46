// The counts of a sparse feature while they grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "passes/passes.hpp"

namespace softmodes {

// Of every cluster and code, if these are at most `most`, else of those that occur.
class SparseSums {
 public:
  static constexpr int64_t kMostCounts = int64_t{1} << 21;
  SparseSums(int64_t k, int64_t n_codes, int64_t most = kMostCounts) : k_(k), n_codes_(n_codes) {
    if (k * n_codes <= most) counts_.resize(static_cast<size_t>(k * n_codes));
  }
  bool dense() const { return !counts_.empty(); }
  int64_t* data() { return counts_.data(); }  // by cluster and code, if dense
  void add(int64_t cluster, int64_t code, int64_t count) {
    if (dense())
      counts_[cluster * n_codes_ + code] += count;
    else if (count)  // rows without weight count for nothing
      entries_.push_back({cluster * n_codes_ + code, count});
  }
  // To be called now and then, and at the end.
  void add_up() {
    if (dense()) return;
    std::vector<Entry> more(entries_.begin() + n_sorted_, entries_.end());
    entries_.resize(static_cast<size_t>(n_sorted_));
    more = summed(more);
    std::vector<Entry> both;
    both.reserve(entries_.size() + more.size());
    auto a = entries_.begin();
    for (const Entry& entry : more) {
      for (; a != entries_.end() && a->key < entry.key; ++a) both.push_back(*a);
      both.push_back(entry);
      if (a != entries_.end() && a->key == entry.key) both.back().count += (a++)->count;
    }
    both.insert(both.end(), a, entries_.end());
    entries_ = std::move(both);
    n_sorted_ = static_cast<int64_t>(entries_.size());
  }
  // Of dense ones.
  void add(const SparseSums& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  SparseCounts counts() const {
    SparseCounts found;
    found.indptr.assign(static_cast<size_t>(k_) + 1, 0);
    dense() ? take_dense(found) : take_entries(found);
    return found;
  }

 private:
  struct Entry {
    int64_t key;  // of cluster and code
    int64_t count;
  };
  // Whether a code occurs is anybody's guess: every count is written, and the next one over it if
  // it is none.
  void take_dense(SparseCounts& found) const {
    const auto n = static_cast<size_t>(
        std::count_if(counts_.begin(), counts_.end(), [](int64_t count) { return count != 0; }));
    found.codes.resize(n + 1);
    found.counts.resize(n + 1);
    const int64_t* next = counts_.data();
    size_t at = 0;
    for (int64_t c = 0; c < k_; ++c) {
      for (int64_t code = 0; code < n_codes_; ++code, ++next) {
        found.codes[at] = static_cast<int32_t>(code);
        found.counts[at] = *next;
        at += *next != 0;
      }
      found.indptr[c + 1] = static_cast<int64_t>(at);
    }
    found.codes.pop_back();
    found.counts.pop_back();
  }
  void take_entries(SparseCounts& found) const {
    for (const Entry& entry : entries_) {
      ++found.indptr[entry.key / n_codes_ + 1];
      found.codes.push_back(static_cast<int32_t>(entry.key % n_codes_));
      found.counts.push_back(entry.count);
    }
    for (int64_t c = 0; c < k_; ++c) found.indptr[c + 1] += found.indptr[c];
  }
  // Sorted by cluster first, so that the codes of one at a time are counted in a short array.
  std::vector<Entry> summed(const std::vector<Entry>& entries) const {
    std::vector<int64_t> next(static_cast<size_t>(k_) + 1);
    for (const Entry& entry : entries) ++next[entry.key / n_codes_ + 1];
    for (int64_t c = 0; c < k_; ++c) next[c + 1] += next[c];
    std::vector<Entry> sorted(entries.size());
    for (const Entry& entry : entries) sorted[next[entry.key / n_codes_]++] = entry;
    std::vector<int64_t> count(static_cast<size_t>(n_codes_));
    std::vector<int64_t> keys;
    std::vector<Entry> found;
    for (int64_t c = 0, i = 0; c < k_; ++c) {  // `next` holds where each cluster ends
      keys.clear();
      for (; i < next[c]; ++i) {
        int64_t& sum = count[sorted[i].key - c * n_codes_];
        if (!sum) keys.push_back(sorted[i].key);
        sum += sorted[i].count;
      }
      std::sort(keys.begin(), keys.end());
      for (const int64_t key : keys) {
        found.push_back({key, count[key - c * n_codes_]});
        count[key - c * n_codes_] = 0;
      }
    }
    return found;
  }

  int64_t k_, n_codes_;
  std::vector<int64_t> counts_;
  std::vector<Entry> entries_;
  int64_t n_sorted_ = 0;  // entries that are summed, in order of their keys
};

}  // namespace softmodes
