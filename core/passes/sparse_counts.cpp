// Counts of sparse features by cluster.
//
// Codes of a few features at a time are copied feature by feature, those of a cluster side by side:
// a row is read once for all of them, and the counters of one cluster and feature stay in the
// cache. Many rows are counted range by range.
#include <algorithm>
#include <bit>
#include <utility>

#include "memory.hpp"
#include "parallel.hpp"
#include "passes/pass.hpp"
#include "passes/passes.hpp"

namespace softmodes {
namespace {

constexpr int64_t kMostAtOnce = 32;                 // of two bytes: a cache line of a row
constexpr int64_t kCodesAtOnce = int64_t{1} << 19;  // that are copied, for one thread
constexpr int64_t kManyCells = int64_t{1} << 18;    // for more than one thread
constexpr int64_t kStripRows = 64;                  // whose cells stay in the cache
constexpr int64_t kWord = 64;                       // counters with a bit in the same word

// Where codes and their counts are written.
struct SparseEntries {
  int32_t* codes;
  int64_t* counts;
};

// Where the rows of each cluster begin, one cluster after the other, and where each row is.
struct Places {
  Places(const Block& block, const int32_t* labels, int64_t k)
      : start(static_cast<size_t>(k) + 1), of_row(static_cast<size_t>(block.n_rows)) {
    RowsByCluster rows;
    rows.sort(labels, block.n_rows, k);
    int64_t place = 0;
    for (int64_t c = 0; c < k; ++c) {
      for (int64_t i = 0; i < rows.size(c); ++i) of_row[rows.begin(c)[i]] = place++;
      start[c + 1] = place;
    }
    if (!block.weight) return;
    weight.resize(of_row.size());
    for (int64_t i = 0; i < block.n_rows; ++i) weight[of_row[i]] = block.weight[i];
  }
  std::vector<int64_t> start;
  std::vector<int64_t> of_row;
  std::vector<int64_t> weight;  // by place; empty: 1
};

// Counters of one cluster and feature. Which of them are used is known by their bits.
template <class Count>
class Counters {
 public:
  explicit Counters(int64_t most_codes)
      : counts_(static_cast<size_t>(most_codes)),
        used_(static_cast<size_t>(ceil_div(most_codes, kWord))) {}

  void add(int32_t code, Count weight) {
    used_[code / kWord] |= uint64_t{1} << code % kWord;
    counts_[code] += weight;
  }
  // Writes what was counted, returns where that ends, and begins anew; n_codes: of the feature.
  SparseEntries take(int64_t n_codes, SparseEntries out) {
    for (int64_t word = 0; word < ceil_div(n_codes, kWord); ++word) take_word(word, out);
    return out;
  }
  // The same for few cells, whose codes may occur several times.
  SparseEntries take(std::vector<int32_t>& codes, SparseEntries out) {
    for (int32_t& code : codes) code /= kWord;
    std::sort(codes.begin(), codes.end());
    for (const int32_t word : codes) take_word(word, out);
    return out;
  }

 private:
  void take_word(int64_t word, SparseEntries& out) {
    for (uint64_t left = std::exchange(used_[word], 0); left; left &= left - 1) {
      const int64_t code = word * kWord + std::countr_zero(left);
      *out.codes = static_cast<int32_t>(code);
      *out.counts = std::exchange(counts_[code], 0);
      const bool some = *out.counts != 0;  // rows without weight count for nothing
      out.codes += some;
      out.counts += some;
    }
  }

  std::vector<Count> counts_;
  std::vector<uint64_t> used_;
};

// Of a few features, one thread. Rows without weights are so few that 32 bits count them.
template <class Count>
class FeatureCounts {
 public:
  FeatureCounts(const Block& block, const Places& places, int64_t most_features, int64_t most_codes)
      : block_(block),
        places_(places),
        counters_(most_codes),
        codes_(static_cast<size_t>(most_features * block.n_rows)),
        counted_codes_(static_cast<size_t>(block.n_rows) + 1),
        counted_(counted_codes_.size()) {}

  void operator()(const int32_t* features, int64_t n, const Stop& stop, SparseCounts* found) {
    for (int64_t first = 0; first < block_.n_rows; first += kStripRows) {
      if (first % kTaskRows == 0 && stop.requested()) return;
      const int64_t end = std::min(first + kStripRows, block_.n_rows);
      for (int64_t f = 0; f < n; ++f) copy(features[f], first, end, codes_.data() + f * n_rows());
    }
    for (int64_t f = 0; f < n; ++f)
      count(block_.layout.n_codes[features[f]], codes_.data() + f * n_rows(), found[f]);
  }

 private:
  int64_t n_rows() const { return block_.n_rows; }

  void copy(int64_t feature, int64_t first, int64_t end, int32_t* codes) const {
    const Layout& layout = block_.layout;
    const uint8_t* cell = block_.rows + first * layout.stride + layout.byte[feature];
    const int64_t* place = places_.of_row.data() + first;
    const bool three_bytes = layout.bits[feature] > 16;
    for (int64_t i = first; i < end; ++i, cell += layout.stride)
      codes[*place++] = cell[0] | cell[1] << 8 | (three_bytes ? cell[2] << 16 : 0);
  }

  void count(int64_t n_codes, const int32_t* codes, SparseCounts& found) {
    const auto k = static_cast<int64_t>(places_.start.size()) - 1;
    SparseEntries next{counted_codes_.data(), counted_.data()};
    found.indptr.push_back(0);
    for (int64_t c = 0; c < k; ++c) {
      const int64_t first = places_.start[c], end = places_.start[c + 1];
      if (places_.weight.empty())
        for (int64_t i = first; i < end; ++i) counters_.add(codes[i], 1);
      else
        for (int64_t i = first; i < end; ++i)
          counters_.add(codes[i], static_cast<Count>(places_.weight[i]));
      if ((end - first) * kWord >= n_codes) {
        next = counters_.take(n_codes, next);
      } else {
        few_.assign(codes + first, codes + end);
        next = counters_.take(few_, next);
      }
      found.indptr.push_back(next.counts - counted_.data());
    }
    found.codes.assign(counted_codes_.data(), next.codes);
    found.counts.assign(counted_.data(), next.counts);
  }

  const Block& block_;
  const Places& places_;
  Counters<Count> counters_;
  std::vector<int32_t> codes_;  // by feature and place
  std::vector<int32_t> few_;
  std::vector<int32_t> counted_codes_;  // of one feature, and room for one that counts for nothing
  std::vector<int64_t> counted_;
};

// Adds up the counts of two ranges of rows.
SparseCounts sum_of(const SparseCounts& a, const SparseCounts& b) {
  SparseCounts sum;
  sum.indptr.push_back(0);
  const auto take = [&](const SparseCounts& from, int64_t i) {
    sum.codes.push_back(from.codes[i]);
    sum.counts.push_back(from.counts[i]);
  };
  for (size_t c = 0; c + 1 < a.indptr.size(); ++c) {
    int64_t i = a.indptr[c], j = b.indptr[c];
    while (i < a.indptr[c + 1] || j < b.indptr[c + 1]) {
      const bool in_a = i < a.indptr[c + 1], in_b = j < b.indptr[c + 1];
      const bool from_a = in_a && (!in_b || a.codes[i] <= b.codes[j]);
      const bool from_b = in_b && (!in_a || b.codes[j] <= a.codes[i]);
      from_a ? take(a, i) : take(b, j);
      if (from_a && from_b) sum.counts.back() += b.counts[j];

      i += from_a;
      j += from_b;
    }
    sum.indptr.push_back(static_cast<int64_t>(sum.codes.size()));
  }
  return sum;
}

template <class Count>
void count_range(const Block& block, const Places& places, const Threads& threads,
                 std::vector<SparseCounts>& found) {
  const auto& features = block.layout.sparse_features;
  const auto n = static_cast<int64_t>(features.size());
  // So few at once that there is something for every thread.
  const int64_t at_once = std::clamp<int64_t>(kCodesAtOnce / std::max<int64_t>(block.n_rows, 1), 1,
                                              std::min(kMostAtOnce, ceil_div(n, threads.n)));
  int64_t most_codes = 0;
  for (const int32_t j : features)
    most_codes = std::max<int64_t>(most_codes, block.layout.n_codes[j]);
  std::vector<FeatureCounts<Count>> counting;
  for (int i = 0; i < threads.n; ++i) counting.emplace_back(block, places, at_once, most_codes);
  run_tasks(ceil_div(n, at_once), threads, [&](int64_t i, int thread, const Stop& stop) {
    if (stop.requested()) return;
    const int64_t first = i * at_once;
    counting[thread](features.data() + first, std::min(at_once, n - first), stop,
                     found.data() + first);
  });
}

}  // namespace

std::vector<SparseCounts> sparse_counts(const Block& block, const int32_t* labels, int64_t k,
                                        const Threads& threads) {
  const auto n = static_cast<int64_t>(block.layout.sparse_features.size());
  std::vector<SparseCounts> found(static_cast<size_t>(n));
  if (!n) return found;
  const Threads useful = threads.at_most(block.n_rows * n < kManyCells ? 1 : n);
  for (int64_t first = 0; first == 0 || first < block.n_rows; first += kCodesAtOnce) {
    const Block range = block.rows_from(first, std::min(kCodesAtOnce, block.n_rows - first));
    std::vector<SparseCounts> more(found.size());
    const Places places(range, labels + first, k);
    if (block.weight)
      count_range<int64_t>(range, places, useful, more);
    else
      count_range<int32_t>(range, places, useful, more);
    for (size_t f = 0; f < found.size(); ++f)
      found[f] = first ? sum_of(found[f], more[f]) : std::move(more[f]);
  }
  return found;
}

JoinedCounts joined(const std::vector<SparseCounts>& sparse, const Threads& threads) {
  constexpr int64_t kCountsPerThread = int64_t{1} << 16;
  const auto n = static_cast<int64_t>(sparse.size());
  std::vector<int64_t> first(sparse.size() + 1);
  JoinedCounts all;
  all.starts.push_back(0);
  for (int64_t f = 0; f < n; ++f) {
    const std::vector<int64_t>& ends = sparse[f].indptr;
    for (size_t c = 1; c < ends.size(); ++c) all.starts.push_back(first[f] + ends[c]);
    first[f + 1] = first[f] + static_cast<int64_t>(sparse[f].codes.size());
  }
  all.n = first[n];
  all.codes.reset(new int32_t[static_cast<size_t>(all.n)]);
  all.counts.reset(new int64_t[static_cast<size_t>(all.n)]);
  const Threads useful = threads.at_most(all.n / kCountsPerThread);
  const int64_t n_tasks = std::min<int64_t>(n, 8 * useful.n);
  run_tasks(n_tasks, useful, [&](int64_t i, int, const Stop&) {
    for (int64_t f = n * i / n_tasks; f < n * (i + 1) / n_tasks; ++f) {
      std::copy(sparse[f].codes.begin(), sparse[f].codes.end(), all.codes.get() + first[f]);
      std::copy(sparse[f].counts.begin(), sparse[f].counts.end(), all.counts.get() + first[f]);
    }
  });
  return all;
}

}  // namespace softmodes
