#include <algorithm>

#include "parallel.hpp"
#include "passes/passes.hpp"
#include "passes/sparse_sums.hpp"

namespace softmodes {
namespace {

constexpr int64_t kFewCounts = int64_t{1} << 15;   // in the second-level cache
constexpr int64_t kMostCounts = int64_t{1} << 20;  // for many rows, which soon find them there
constexpr int64_t kManyCells = int64_t{1} << 18;   // for more than one thread

// Row by row, where that takes little memory: of features that lie side by side, so that a row is
// read once for all of them.
class RowCounts {
 public:
  RowCounts(const Block& block, const int32_t* features, int64_t n, int64_t k) : block_(block) {
    sums_.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const int32_t j = features[i], n_codes = block.layout.n_codes[j];
      sums_.emplace_back(k, n_codes);
      fields_.push_back(
          {block.layout.byte[j], block.layout.bits[j] > 16, n_codes, sums_.back().data()});
    }
  }
  void add(const int32_t* labels, const Stop& stop) {
    for (int64_t i = 0; i < block_.n_rows; ++i) {
      if (i % kTaskRows == 0 && stop.requested()) return;
      const uint8_t* row = block_.rows + i * block_.layout.stride;
      const int64_t label = labels[i], weight = block_.weight ? block_.weight[i] : 1;
      for (const Field& field : fields_) {
        const uint8_t* p = row + field.byte;
        const int32_t code = p[0] | p[1] << 8 | (field.three_bytes ? p[2] << 16 : 0);
        field.counts[label * field.n_codes + code] += weight;
      }
    }
  }
  void take(SparseCounts* found) const {
    for (const SparseSums& sums : sums_) *found++ = sums.counts();
  }

 private:
  struct Field {
    int32_t byte;
    bool three_bytes;
    int64_t n_codes;
    int64_t* counts;  // by cluster and code
  };
  const Block& block_;
  std::vector<SparseSums> sums_;
  std::vector<Field> fields_;
};

// Cluster by cluster.
SparseCounts counts_of_clusters(const Block& block, int64_t feature, const int32_t* labels,
                                int64_t k) {
  std::vector<int64_t> start(static_cast<size_t>(k) + 2);
  for (int64_t i = 0; i < block.n_rows; ++i) ++start[labels[i] + 2];
  for (int64_t c = 2; c <= k + 1; ++c) start[c] += start[c - 1];
  struct WeightedCode {
    int32_t code;
    int64_t weight;
  };
  std::vector<WeightedCode> cells(static_cast<size_t>(block.n_rows));
  for (int64_t i = 0; i < block.n_rows; ++i)
    cells[start[labels[i] + 1]++] = {
        block.layout.code(block.rows + i * block.layout.stride, feature),
        block.weight ? block.weight[i] : 1};

  SparseCounts sparse;
  sparse.indptr.push_back(0);
  std::vector<int64_t> count(static_cast<size_t>(block.layout.n_codes[feature]));
  std::vector<uint8_t> seen(count.size());
  std::vector<int32_t> codes;
  for (int64_t c = 0; c < k; ++c) {
    codes.clear();
    for (int64_t i = start[c]; i < start[c + 1]; ++i) {
      const WeightedCode& cell = cells[i];
      if (!seen[cell.code]) codes.push_back(cell.code);
      seen[cell.code] = 1;
      count[cell.code] += cell.weight;
    }
    std::sort(codes.begin(), codes.end());
    for (int32_t code : codes) {
      sparse.codes.push_back(code);
      sparse.counts.push_back(count[code]);
      count[code] = seen[code] = 0;
    }
    sparse.indptr.push_back(static_cast<int64_t>(sparse.codes.size()));
  }
  return sparse;
}

}  // namespace

std::vector<SparseCounts> sparse_counts(const Block& block, const int32_t* labels, int64_t k,
                                        const Threads& threads) {
  const Layout& layout = block.layout;
  const auto& features = layout.sparse_features;
  const auto n = static_cast<int64_t>(features.size());
  const int64_t most = std::clamp(8 * block.n_rows, kFewCounts, kMostCounts);
  // Features that are counted together, one after the other; the last of each.
  std::vector<int64_t> ends;
  int64_t n_counts = 0;
  bool all_few = true;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t own = k * layout.n_codes[features[i]];
    const bool begins = i == 0 || n_counts + own > kFewCounts;
    if (begins) {
      n_counts = 0;
      ends.push_back(i);
    }
    ends.back() = i + 1;
    n_counts += own;
    all_few = all_few && own <= most;
  }
  // Cluster by cluster all cells of a feature are copied: of one feature at a time.
  Threads some = threads;
  if (block.n_rows * n < kManyCells || !all_few) some.n = 1;
  std::vector<SparseCounts> found(features.size());
  run_tasks(static_cast<int64_t>(ends.size()), some, [&](int64_t i, int, const Stop& stop) {
    if (stop.requested()) return;
    const int64_t first = i ? ends[i - 1] : 0, j = features[first];
    if (k * layout.n_codes[j] > most) {
      found[first] = counts_of_clusters(block, j, labels, k);
      return;
    }
    RowCounts counts(block, features.data() + first, ends[i] - first, k);
    counts.add(labels, stop);
    counts.take(found.data() + first);
  });
  return found;
}

}  // namespace softmodes
