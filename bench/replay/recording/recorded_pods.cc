#include "bench/replay/recording/recorded_pods.h"

#include "scheduler/cluster/workload.h"
#include "scheduler/framework/pod_shape.h"

#include <algorithm>
#include <variant>

namespace bench::replay {
namespace {

const k8s::Pod* pod_of(const sched::live::EngineCall& call) {
  const auto* applied = std::get_if<sched::live::AppliedCall>(&call);
  if (applied == nullptr) return nullptr;
  const auto* upserted = std::get_if<sched::event::PodUpserted>(&applied->event);
  return upserted == nullptr ? nullptr : &upserted->object;
}

}  // namespace

RecordedPods::RecordedPods(const Recording& recording, const std::vector<std::string>& served) {
  sched::ResourceNames names;
  std::vector<sched::PodShape> shapes;
  for (const sched::live::EngineCall& call : recording.calls) {
    const k8s::Pod* pod = pod_of(call);
    if (pod == nullptr || !numbers_.try_emplace(pod->metadata.uid, pods_.size()).second) continue;
    const auto& name = pod->spec.scheduler_name;
    const bool ours = std::find(served.begin(), served.end(), name) != served.end() &&
                      pod->spec.node_name.empty();
    sched::PodShape shape = sched::shape_of(*pod, names);
    pods_.push_back({.kind = kind_of(*pod, shape, false), .ours = ours});
    if (!ours) continue;
    ++ours_;
    shapes.push_back(std::move(shape));
  }
  kinds_ = sched::kinds_of(shapes, false);
}

std::optional<std::size_t> RecordedPods::number_of(const std::string& uid) const {
  const auto found = numbers_.find(uid);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

}  // namespace bench::replay
