#include <cmath>

#include "layout/row_hasher.hpp"
#include "passes/pass.hpp"
#include "passes/passes.hpp"
#include "passes/powers.hpp"
#include "passes/shares.hpp"

namespace softmodes {

void score_rows(const Block& block, const Centers& centers, std::optional<uint64_t> tie_key,
                const RowScores& out, const Threads& threads) {
  const int64_t k = centers.n;
  const int resolution = std::get<ScoreCenters>(centers.kind).resolution;
  const ScorePlan plan(block.layout, centers, block.n_rows, kernels());
  const Powers powers = powers_of(resolution);
  const RowHasher hasher(block);
  const Ties ties{tie_key.has_value(), tie_key.value_or(0), hasher.view()};
  const Threads useful = useful_threads(block, k, threads);
  const int64_t lanes = plan.view().lanes();
  std::vector<Sharer> sharers;
  for (int t = 0; t < useful.n; ++t) sharers.emplace_back(plan);
  const auto write = [&](int64_t first, int64_t n, const Shares& shares, const uint32_t* totals) {
    for (int64_t r = 0, part = 0; r < n; ++r) {
      const int64_t row = first + r;
      const int64_t least = plan.floor().of(block.rows + row * block.layout.stride);
      for (int64_t c = 0; out.totals && c < k; ++c)
        out.totals[row * k + c] = least + totals[r * lanes + c];
      if (out.parts) std::fill_n(out.parts + row * k, k, 0);
      for (const int64_t end = part + shares.n[r]; part < end; ++part)
        if (out.parts) out.parts[row * k + shares.cluster[part]] = shares.part[part];
      if (out.logs)
        out.logs[row] = std::ldexp(static_cast<double>(shares.log[r]), -kLogBits) -
                        std::ldexp(static_cast<double>(least + shares.least[r]), -resolution);
    }
  };
  run_tasks(ceil_div(block.n_rows, kTaskRows), useful,
            [&](int64_t i, int thread, const Stop& stop) {
              if (stop.requested()) return;
              const int64_t n = std::min(kTaskRows, block.n_rows - i * kTaskRows);
              sharers[thread].share(kernels(), powers, block, i * kTaskRows, n, ties, false, write);
            });
}

}  // namespace softmodes
