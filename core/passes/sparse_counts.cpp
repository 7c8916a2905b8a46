#include <algorithm>

#include "parallel.hpp"
#include "passes/passes.hpp"
#include "passes/sparse_sums.hpp"

namespace softmodes {
namespace {

constexpr int64_t kFewCounts = int64_t{1} << 15;   // in the second-level cache
constexpr int64_t kMostCounts = int64_t{1} << 20;  // for many rows, which soon find them there
constexpr int64_t kManyCells = int64_t{1} << 18;   // for more than one thread

// Row by row, where that takes little memory.
SparseCounts counts_of_rows(const Block& block, int64_t feature, const int32_t* labels, int64_t k) {
  SparseSums sums(k, block.layout.n_codes[feature]);
  for (int64_t i = 0; i < block.n_rows; ++i)
    sums.add(labels[i], block.layout.code(block.rows + i * block.layout.stride, feature),
             block.weight ? block.weight[i] : 1);
  return sums.counts();
}

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
  const int64_t most = std::clamp(2 * block.n_rows, kFewCounts, kMostCounts);
  const auto few = [&](int64_t j) { return k * layout.n_codes[j] <= most; };
  // Cluster by cluster all cells of a feature are copied: of one feature at a time.
  Threads some = threads;
  const int64_t n_cells = block.n_rows * static_cast<int64_t>(features.size());
  if (n_cells < kManyCells || !std::all_of(features.begin(), features.end(), few)) some.n = 1;
  std::vector<SparseCounts> found(features.size());
  run_tasks(static_cast<int64_t>(features.size()), some, [&](int64_t i, int, const Stop& stop) {
    if (stop.requested()) return;
    const int64_t j = features[i];
    found[i] =
        few(j) ? counts_of_rows(block, j, labels, k) : counts_of_clusters(block, j, labels, k);
  });
  return found;
}

}  // namespace softmodes
