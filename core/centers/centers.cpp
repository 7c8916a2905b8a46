#include "centers/centers.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "isa/kernels.hpp"

namespace softmodes {

uint32_t share_limit(int resolution) {
  if (resolution >= 0) return static_cast<uint32_t>(kPowerBits) << resolution;
  return (static_cast<uint32_t>(kPowerBits - 1) >> std::min(-resolution, 31)) + 1;
}

bool never_exceed(const SparsePrices& prices, int64_t n_values) {
  bool some = false;  // without branches
  for (int64_t v = 0; v < n_values; ++v)
    for (int64_t e = prices.indptr[v]; e < prices.indptr[v + 1]; ++e)
      some |= prices.bonus[e] > uint64_t{prices.usual[prices.clusters[e]]} + prices.shared[v];
  return !some;
}

Centers::Centers(int64_t n_centers, Kind centers)
    : n(n_centers), kind(std::move(centers)), clusters(static_cast<size_t>(n_centers)) {
  std::iota(clusters.begin(), clusters.end(), 0);
}

ChosenCenters::ChosenCenters(const Layout& layout, const Centers& all,
                             const std::vector<int32_t>& chosen)
    : centers_(static_cast<int64_t>(chosen.size()), all.kind) {
  centers_.clusters = chosen;
  auto& kind = std::get<CodeCenters>(centers_.kind);
  for (const int32_t c : chosen)
    codes_.insert(codes_.end(), kind.of(layout, c), kind.of(layout, c) + layout.n_features);
  kind.codes = codes_.data();
}

}  // namespace softmodes
