#include "scheduler/gpu/health.h"

#include "scheduler/gpu/labels.h"

#include <algorithm>
#include <array>

namespace sched::gpu {
namespace {

constexpr std::array<std::string_view, 5> kKubeletsOwn{"Ready", "MemoryPressure", "DiskPressure",
                                                       "PIDPressure", "NetworkUnavailable"};

MigChange change_of(std::string_view state) {
  for (const MigChange each : {MigChange::kPending, MigChange::kRebooting, MigChange::kFailed}) {
    if (state == to_string(each)) return each;
  }
  return MigChange::kNone;
}

bool is_alarm(const k8s::NodeCondition& condition) {
  const bool kubelets =
      std::find(kKubeletsOwn.begin(), kKubeletsOwn.end(), condition.type) != kKubeletsOwn.end();
  if (kubelets) return false;
  return condition.status == (condition.type.ends_with("Ready") ? "False" : "True");
}

}  // namespace

std::string_view to_string(MigChange change) {
  switch (change) {
    case MigChange::kNone:
      return "";
    case MigChange::kPending:
      return "pending";
    case MigChange::kRebooting:
      return "rebooting";
    case MigChange::kFailed:
      return "failed";
  }
  return "";
}

NodeHealth health_of(const k8s::Node& node, const SiteLabels& site) {
  NodeHealth health;
  const k8s::StringMap& labels = node.metadata.labels;
  const std::string* present = labels.find("nvidia.com/gpu.present");
  health.labelled_gpus =
      (present != nullptr && *present == "true") || !product_label_of(labels, site).empty();
  if (const std::string* state = labels.find(kMigStateLabel)) health.mig_change = change_of(*state);
  if (const std::string* config = labels.find(kMigConfigLabel);
      config != nullptr && health.mig_change != MigChange::kNone) {
    health.mig_config = *config;
  }
  for (const k8s::NodeCondition& condition : node.status.conditions) {
    if (is_alarm(condition)) health.alarms.push_back({condition.type, condition.reason});
  }
  std::sort(health.alarms.begin(), health.alarms.end(),
            [](const Alarm& a, const Alarm& b) { return a.type < b.type; });
  return health;
}

}  // namespace sched::gpu
