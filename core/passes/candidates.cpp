// What candidates for the next center are worth: totals, and the rows they would win.
#include "passes/distances.hpp"

namespace softmodes {

template <class D>
void candidate_totals(const Block& block, const Centers& centers, const D* current, D* out,
                      int64_t* totals, const Threads& threads) {
  const auto lower = [] {
    if constexpr (sizeof(D) == 2)
      return kernels().lower16;
    else
      return kernels().lower32;
  }();
  for_each_distance(block, centers, threads,
                    [&](int64_t row, int64_t n, int64_t center, const uint32_t* found) {
                      totals[row / kTaskRows * centers.n + center] +=
                          lower(found, current + row, block.weight ? block.weight + row : nullptr,
                                n, out + center * block.n_rows + row);
                    });
}

template void candidate_totals(const Block&, const Centers&, const uint16_t*, uint16_t*, int64_t*,
                               const Threads&);
template void candidate_totals(const Block&, const Centers&, const uint32_t*, uint32_t*, int64_t*,
                               const Threads&);

namespace {

using FoundRows = std::vector<std::vector<Found>>;  // per kTaskRows rows, numbered from 0 in each

template <class D>
void find_by_planes(const Block& block, const Centers& centers, const D* current,
                    const Threads& threads, FoundRows& found) {
  const Kernels& isa = kernels();
  const PlanePlan plan(block.layout, centers, isa.plane_rows);
  const int64_t tile_rows = plan.tile_rows();
  const Threads useful = useful_threads(block, centers.n, threads);
  const auto scratch = make_scratch(plan.scratch_sizes(), useful);
  const auto most = static_cast<size_t>(centers.n * tile_rows);
  std::vector<std::vector<Found>> in_tile(scratch.size(), std::vector<Found>(most));
  run_tasks(ceil_div(block.n_rows, kTaskRows), useful,
            [&](int64_t i, int thread, const Stop& stop) {
              uint32_t before[kMostTileRows];
              const int64_t begin = i * kTaskRows, end = std::min(block.n_rows, begin + kTaskRows);
              for (int64_t r = begin; r < end && !stop.requested(); r += tile_rows) {
                const int64_t n = std::min(tile_rows, end - r);
                const TileRows rows{block.rows + r * block.layout.stride, n};
                std::copy_n(current + r, n, before);
                Found* first = in_tile[thread].data();
                Found* last = first + isa.nearer_by_planes(plan.view(), rows, before,
                                                           scratch[thread].view(), first);
                for (Found* f = first; f != last; ++f) f->row += static_cast<int32_t>(r - begin);
                found[i].insert(found[i].end(), first, last);
              }
            });
}

template <class D>
void find_by_distances(const Block& block, const Centers& centers, const D* current,
                       const Threads& threads, FoundRows& found) {
  for_each_distance(
      block, centers, threads,
      [&](int64_t row, int64_t n, int64_t center, const uint32_t* distances) {
        auto& mine = found[row / kTaskRows];
        for (int64_t r = 0; r < n; ++r)
          if (distances[r] < current[row + r])
            mine.push_back({static_cast<int32_t>(center),
                            static_cast<int32_t>((row + r) % kTaskRows), distances[r]});
      });
}

// By center; within one, tasks and tiles keep the rows in order. What has been moved is freed.
template <class D>
NearerRows<D> by_center(FoundRows& found, int64_t n_centers) {
  NearerRows<D> out;
  out.start.resize(static_cast<size_t>(n_centers) + 1);
  for (const auto& task : found)
    for (const Found& f : task) ++out.start[f.center + 1];
  for (int64_t c = 0; c < n_centers; ++c) out.start[c + 1] += out.start[c];
  out.rows.resize(static_cast<size_t>(out.start.back()));
  out.distances.resize(out.rows.size());
  std::vector<int64_t> next(out.start.begin(), out.start.end() - 1);
  for (size_t i = 0; i < found.size(); ++i) {
    for (const Found& f : std::exchange(found[i], {})) {
      const int64_t at = next[f.center]++;
      out.rows[at] = static_cast<int64_t>(i) * kTaskRows + f.row;
      out.distances[at] = static_cast<D>(f.distance);
    }
  }
  return out;
}

}  // namespace

template <class D>
NearerRows<D> nearer(const Block& block, const Centers& centers, const D* current,
                     const Threads& threads) {
  FoundRows found(static_cast<size_t>(ceil_div(block.n_rows, kTaskRows)));
  if (PlanePlan::can_hold(block.layout, centers))
    find_by_planes(block, centers, current, threads, found);
  else
    find_by_distances(block, centers, current, threads, found);
  return by_center<D>(found, centers.n);
}

template NearerRows<uint16_t> nearer(const Block&, const Centers&, const uint16_t*, const Threads&);
template NearerRows<uint32_t> nearer(const Block&, const Centers&, const uint32_t*, const Threads&);

}  // namespace softmodes
