// GpuHealth: keeps pods that ask for devices off nodes with GPUs that are not healthy.
//
// Device plugins serve every extended resource, so each of them counts as a device; pods without
// devices may go anywhere. A node takes no pod with devices while
//   * its MIG configuration is being changed, or could not be (label nvidia.com/mig.config.state:
//     pending, rebooting, failed);
//   * one of `unhealthyConditions` reports a problem: True, or False for a type that ends in
//     "Ready". Default: those of node-problem-detector, of AKS for GPU nodes, and of the EKS node
//     monitoring agent with which a pod most likely fails;
//   * it has one of `unhealthyTaints` (effect NoSchedule or NoExecute) that the pod does not
//     tolerate by key. A toleration without a key is not meant for broken nodes, so it does not
//     count here; it counts as always elsewhere;
//   * it is backed off, because its kubelet rejected pods with devices one after the other
//     (scheduler/engine/backoffs/black_holes.h; `rejectedPods` within `rejectedWithinSeconds`, for
//     `initialBackoffSeconds` … `maxBackoffSeconds`). A back-off is for all profiles: these four
//     arguments are those of the first profile with this plugin, and different ones in another
//     profile are an error.
// Its verdicts come after kube-scheduler's filters and never replace their messages. Its answers
// follow from the Node object and from the back-off; it reads no clock.
#include "k8s-client/api/decode/rfc3339.h"
#include "plugins/factories.h"
#include "plugins/gpu_health/args.h"

#include <fmt/format.h>

#include <algorithm>

namespace plugins {

namespace {

using namespace sched;

// Indices of the reasons.
constexpr unsigned kMigPending = 0;
constexpr unsigned kMigRebooting = 1;
constexpr unsigned kMigFailed = 2;
constexpr unsigned kCondition = 3;
constexpr unsigned kTaint = 4;
constexpr unsigned kBackedOff = 5;

const std::vector<std::string>& all_reasons() {
  static const std::vector<std::string> kReasons = {
      "node(s) had a MIG configuration that is pending",
      "node(s) were rebooting for a MIG configuration",
      "node(s) had a MIG configuration that failed",
      "node(s) had a condition that says they are unhealthy",
      "node(s) had a taint that says they are unhealthy",
      "node(s) were backed off after rejecting pods with devices"};
  return kReasons;
}

bool sorted_contains(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

bool names_it(const k8s::Toleration& toleration, const k8s::Taint& taint) {
  return !toleration.key.empty() && toleration.tolerates(taint);
}

std::string condition_text(const gpu::Alarm& alarm) {
  return alarm.type + (alarm.reason.empty() ? "" : " (" + alarm.reason + ")");
}

const gpu::Alarm* alarm_of(const NodeFacts& node, const GpuHealthArgs& args) {
  for (const gpu::Alarm& each : node.health.alarms) {
    if (sorted_contains(args.unhealthy_conditions, each.type)) return &each;
  }
  return nullptr;
}

// The first listed taint that none of these tolerations names.
const k8s::Taint* taint_of(const NodeFacts& node, const GpuHealthArgs& args,
                           const std::vector<k8s::Toleration>& tolerations) {
  for (const k8s::Taint& taint : node.taints) {
    const bool keeps_off = taint.effect == k8s::TaintEffect::kNoSchedule ||
                           taint.effect == k8s::TaintEffect::kNoExecute;
    if (!keeps_off || !sorted_contains(args.unhealthy_taints, taint.key)) continue;
    const bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(),
                    [&](const k8s::Toleration& each) { return names_it(each, taint); });
    if (!tolerated) return &taint;
  }
  return nullptr;
}

// A healthy node costs three comparisons and no text: there are few alarms, and the listed taints
// are searched only on nodes with taints.
class HealthCheck final : public NodeFilter {
 public:
  HealthCheck(const GpuHealthArgs& args, std::vector<k8s::Toleration> tolerations)
      : args_(args), tolerations_(std::move(tolerations)) {}

  Verdict check(const NodeView& node) const override {
    const gpu::NodeHealth& health = node.facts.health;
    std::uint64_t reasons = 0;
    if (health.mig_change != gpu::MigChange::kNone) reasons |= 1U << reason_of(health.mig_change);
    if (alarm_of(node.facts, args_) != nullptr) reasons |= 1U << kCondition;
    if (taint_of(node.facts, args_, tolerations_) != nullptr) reasons |= 1U << kTaint;
    if (health.backoff) reasons |= 1U << kBackedOff;
    return reasons == 0 ? Verdict::ok() : Verdict::unresolvable(reasons);
  }

  bool reads_usage() const override { return false; }

  const std::vector<std::string>& reasons() const override { return all_reasons(); }

  std::string numbers(const NodeView& node, unsigned index) const override {
    const gpu::NodeHealth& health = node.facts.health;
    switch (index) {
      case kCondition: {
        const gpu::Alarm* alarm = alarm_of(node.facts, args_);
        return alarm == nullptr ? "" : condition_text(*alarm);
      }
      case kTaint: {
        const k8s::Taint* taint = taint_of(node.facts, args_, tolerations_);
        return taint == nullptr ? "" : taint->key + ", which no toleration of the pod names";
      }
      case kBackedOff:
        return health.backoff ? backoff_text(*health.backoff) : "";
      default:
        return fmt::format("{}={}, {}={}", gpu::kMigConfigLabel, health.mig_config,
                           gpu::kMigStateLabel, gpu::to_string(health.mig_change));
    }
  }

 private:
  static unsigned reason_of(gpu::MigChange change) {
    if (change == gpu::MigChange::kPending) return kMigPending;
    return change == gpu::MigChange::kRebooting ? kMigRebooting : kMigFailed;
  }
  // Without the pod that was rejected last: it may be of another namespace than the pod that waits.
  static std::string backoff_text(const gpu::AdmissionBackoff& backoff) {
    return fmt::format(
        "{} rejected, the last with {}; backed off until {}, or until a pod with devices starts "
        "there",
        backoff.rejected, backoff.reason, k8s::json::format_seconds(backoff.until));
  }

  const GpuHealthArgs& args_;  // of the plugin
  std::vector<k8s::Toleration> tolerations_;
};

class GpuHealth final : public FilterPlugin {
 public:
  explicit GpuHealth(GpuHealthArgs args) : args_(std::move(args)) {}

  std::string_view name() const override { return "GpuHealth"; }

  FilterPreparation prepare(const PodShape& shape, const PrepareContext& context) const override {
    const bool devices = std::any_of(
        shape.requests.begin(), shape.requests.end(), [&](const ResourceAmount& request) {
          return is_extended_resource(context.resources.name(request.resource));
        });
    FilterPreparation preparation;
    if (devices) preparation.filter = std::make_unique<HealthCheck>(args_, shape.tolerations);
    return preparation;
  }

  std::optional<std::string> keeps_devices_off(const NodeFacts& node) const override {
    if (const gpu::Alarm* alarm = alarm_of(node, args_)) return condition_text(*alarm);
    if (const k8s::Taint* taint = taint_of(node, args_, {})) return "taint " + taint->key;
    return std::nullopt;
  }
  std::optional<gpu::RejectionLimits> rejection_limits() const override { return args_.rejections; }

 private:
  GpuHealthArgs args_;
};

}  // namespace

PluginInstance make_gpu_health(k8s::yaml::ObjectReader& args) {
  return {.filter = std::make_unique<GpuHealth>(read_gpu_health_args(args))};
}

}  // namespace plugins
