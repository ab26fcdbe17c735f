// A score by how much of a resource is in use: kube-scheduler's requestedToCapacityRatio.shape.
#pragma once

#include <cstdint>
#include <vector>

namespace plugins {

struct UtilizationPoint {
  std::int64_t utilization = 0;  // percent
  std::int64_t score = 0;        // 0 … kMaxScore
  friend bool operator==(const UtilizationPoint&, const UtilizationPoint&) = default;
};

// The score at `utilization` (percent): on the line between the points beside it, and that of the
// nearest point where there is none on one side. `points` by rising utilization, not empty. As
// kube-scheduler does, parts of a score are cut off towards the left point.
[[nodiscard]] inline std::int64_t score_at(const std::vector<UtilizationPoint>& points,
                                           std::int64_t utilization) {
  const UtilizationPoint* before = nullptr;
  for (const UtilizationPoint& point : points) {
    if (utilization > point.utilization) {
      before = &point;
      continue;
    }
    if (before == nullptr) return point.score;
    return before->score + (point.score - before->score) * (utilization - before->utilization) /
                               (point.utilization - before->utilization);
  }
  return points.back().score;
}

}  // namespace plugins
