#include "centers/plan.hpp"

#include <algorithm>

namespace softmodes {

Strategy choose_strategy(const Layout& layout, const Centers& centers, int64_t n_rows,
                         const Kernels& kernels) {
  if (std::holds_alternative<ScoreCenters>(centers.kind)) return Strategy::scores;
  if (RowPlan::suits(layout, centers, kernels)) return Strategy::rows;
  if (CellPlan::suits(layout, centers, n_rows)) return Strategy::cells;
  const bool many = centers.n >= kernels.plane_centers;
  return many && PlanePlan::can_hold(layout, centers) ? Strategy::planes : Strategy::tiles;
}

Plan make_plan(const Layout& layout, const Centers& centers, int64_t n_rows,
               const Kernels& kernels) {
  switch (choose_strategy(layout, centers, n_rows, kernels)) {
    case Strategy::rows:
      return Plan(std::in_place_type<RowPlan>, layout, centers);
    case Strategy::cells:
      return Plan(std::in_place_type<CellPlan>, layout, centers, kernels);
    case Strategy::scores:
      return Plan(std::in_place_type<ScorePlan>, layout, centers, n_rows, kernels);
    case Strategy::planes:
      return Plan(std::in_place_type<PlanePlan>, layout, centers, kernels.plane_rows);
    default:
      return Plan(std::in_place_type<TilePlan>, layout, centers, kernels);
  }
}

DistancePlan make_distance_plan(const Layout& layout, const Centers& centers, int64_t n_rows,
                                const Kernels& kernels) {
  if (RowPlan::suits(layout, centers, kernels))
    return DistancePlan(std::in_place_type<RowPlan>, layout, centers);
  if (CellPlan::suits(layout, centers, n_rows))
    return DistancePlan(std::in_place_type<CellPlan>, layout, centers, kernels);
  return DistancePlan(std::in_place_type<TilePlan>, layout, centers, kernels);
}

PlanBytes most_plan_bytes(const Layout& layout, int64_t n_centers, const uint32_t* feature_weight,
                          const Kernels& kernels) {
  const bool rows = RowPlan::may_suit(layout, n_centers, kernels);
  const bool many = n_centers >= kernels.plane_centers;
  if (!rows && many && PlanePlan::can_hold(layout, n_centers, feature_weight))
    return {PlanePlan::most_table_bytes(layout, n_centers),
            PlanePlan::most_scratch(layout, n_centers, kernels.plane_rows).total()};
  PlanBytes most{TilePlan::most_table_bytes(layout, n_centers, feature_weight),
                 TilePlan::most_scratch(layout).total()};
  if (rows) {
    most.shared = std::max(most.shared, RowPlan::table_bytes(layout, n_centers));
    most.per_thread = std::max(most.per_thread, RowPlan::scratch_sizes(layout).total());
  }
  return most;
}

}  // namespace softmodes
