#include "passes/distances.hpp"

namespace softmodes {

void distances(const Block& block, const Centers& centers, uint32_t* out, const Threads& threads) {
  for_each_distance(block, centers, threads,
                    [&](int64_t row, int64_t n, int64_t center, const uint32_t* found) {
                      for (int64_t r = 0; r < n; ++r)
                        out[(row + r) * centers.n + center] = found[r];
                    });
}

}  // namespace softmodes
