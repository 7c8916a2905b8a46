#include <algorithm>

#include "passes/passes.hpp"
#include "passes/sparse_sums.hpp"

namespace softmodes {
namespace {

constexpr int64_t kFewCounts = int64_t{1} << 15;  // in the second-level cache

// Row by row, where that takes little memory.
SparseCounts counts_of_rows(const Block& block, int64_t feature, const int32_t* labels, int64_t k) {
  SparseSums sums(k, block.layout.n_codes[feature]);
  for (int64_t i = 0; i < block.n_rows; ++i)
    sums.add(labels[i], block.layout.code(block.rows + i * block.layout.stride, feature),
             block.weight ? block.weight[i] : 1);
  return sums.counts();
}

}  // namespace

SparseCounts sparse_counts(const Block& block, int64_t feature, const int32_t* labels, int64_t k) {
  if (k * block.layout.n_codes[feature] <= kFewCounts)
    return counts_of_rows(block, feature, labels, k);
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

}  // namespace softmodes
