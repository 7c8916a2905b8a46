// Centers made ready for comparison: one of five plans.
#pragma once

#include <variant>

#include "centers/cell_plan.hpp"
#include "centers/plane_plan.hpp"
#include "centers/row_plan.hpp"
#include "centers/score_plan.hpp"
#include "centers/tile_plan.hpp"

namespace softmodes {

// A plan has n_centers, tile_rows, scratch_sizes and nearest.
using Plan = std::variant<RowPlan, CellPlan, TilePlan, PlanePlan, ScorePlan>;
// One that has distances, too.
using DistancePlan = std::variant<RowPlan, CellPlan, TilePlan>;

enum class Strategy { rows, cells, tiles, planes, scores };

// For so many rows.
Strategy choose_strategy(const Layout& layout, const Centers& centers, int64_t n_rows,
                         const Kernels& kernels);

// The layout and the centers must outlive the plan.
Plan make_plan(const Layout& layout, const Centers& centers, int64_t n_rows,
               const Kernels& kernels);
DistancePlan make_distance_plan(const Layout& layout, const Centers& centers, int64_t n_rows,
                                const Kernels& kernels);

inline int64_t n_centers(const Plan& plan) {
  return std::visit([](const auto& p) { return p.n_centers(); }, plan);
}
inline int64_t tile_rows(const Plan& plan) {
  return std::visit([](const auto& p) { return p.tile_rows(); }, plan);
}
template <class AnyPlan>
ScratchSizes scratch_sizes(const AnyPlan& plan) {
  return std::visit([](const auto& p) { return p.scratch_sizes(); }, plan);
}

// The nearest center of up to tile_rows rows; false if it was given up.
inline bool find_nearest(const Plan& plan, const Kernels& kernels, const TileRows& rows,
                         const Ties& ties, const Scratch& scratch, Nearest out, const Stop& stop) {
  return std::visit(
      [&](const auto& p) { return p.nearest(kernels, rows, ties, scratch, out, stop); }, plan);
}

// The most that the plan of any such centers takes: tables that all threads share, and the scratch
// of each.
struct PlanBytes {
  int64_t shared;
  int64_t per_thread;
};
PlanBytes most_plan_bytes(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight,
                          const Kernels& kernels);

}  // namespace softmodes
