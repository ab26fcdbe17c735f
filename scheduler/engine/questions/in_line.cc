#include "scheduler/engine/line/pod_groups.h"
#include "scheduler/engine/questions/gpu_pieces.h"
#include "scheduler/engine/questions/questions.h"
#include "scheduler/gpu/inventory.h"
#include "scheduler/quota/type_choice.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sched {
namespace {

PodInLine::Place place_of(QueuePlace place) {
  switch (place) {
    case QueuePlace::kBackoff:
      return PodInLine::Place::kBackoff;
    case QueuePlace::kParked:
      return PodInLine::Place::kParked;
    case QueuePlace::kRefused:
      return PodInLine::Place::kRefused;
    case QueuePlace::kGated:
      return PodInLine::Place::kGated;
    case QueuePlace::kNone:
    case QueuePlace::kActive:
      break;
  }
  return PodInLine::Place::kActive;
}

// "H100", "H100 or A100-80GB", or "GPU" if the pod names no type, or too many.
std::string wanted_type(const PodShape& shape) {
  constexpr std::size_t kMostNamed = 2;
  const auto types = quota::named_types(quota::choice_of(shape, true));
  if (types.empty() || types.size() > kMostNamed) return "GPU";
  std::string text;
  for (const gpu::TypeName& type : types) {
    const bool is_class = type.gpu_class != nullptr && type.mig_profile.empty();
    const auto name = is_class ? std::string(type.gpu_class->name) : type.text;
    if (name != text) text += (text.empty() ? "" : " or ") + name;
  }
  return text;
}

std::string why_waits(const WaitingGroup& group) {
  std::string missing = missing_pods(group);
  return missing.empty() ? group.told : missing;
}

}  // namespace

std::string gpu_asks(const PodShape& shape, const ResourceNames& names) {
  std::string text;
  for (const auto& [resource, amount] : shape.requests) {
    std::string_view name = names.name(resource);
    if (!gpu::is_gpu_resource(name)) continue;
    name.remove_prefix(gpu::kNvidiaPrefix.size());
    if (!text.empty()) text += ", ";
    text += std::to_string(amount) + ' ' + (name == "gpu" ? wanted_type(shape) : std::string(name));
  }
  return text;
}

// Pods as answers have them. What those of one shape have in common is found once.
class Questions::Lines {
 public:
  Lines(const World& world, const Queues& queue) : world_(world), queue_(queue) {}

  PodInLine row(const WaitingPod& pod) {
    const OfShape& shape = of_shape(pod);
    const Entity& entity = entity_of(pod);
    const bool by_quota = entity.queue != kMainQueue;
    const WaitingLine* line = entity.in_line ? &queue_.find(entity.queue)->line() : nullptr;
    return {.pod = ref_of(pod.pod),
            .group = pod.group == nullptr ? std::string() : pod.group->name,
            .group_waits = pod.group == nullptr ? std::string() : why_waits(*pod.group),
            .misses_pods = pod.group != nullptr && !missing_pods(*pod.group).empty(),
            .quota = by_quota ? world_.ledger.name_of(quota_of(entity)) : std::string(),
            .place = place_of(entity.place),
            .priority = pod.order.priority,
            .created = pod.order.created,
            .gpus = shape.gpus,
            .instances = shape.instances,
            .asks = shape.asks,
            .never = shape.never,
            .place_in_line = line == nullptr ? 0 : line->before(entity) + 1,
            .line_length = line == nullptr ? 0 : line->size()};
  }

 private:
  struct OfShape {
    std::int64_t gpus = 0;
    std::int64_t instances = 0;
    std::string asks;
    std::string never;
  };

  const OfShape& of_shape(const WaitingPod& pod) {
    const auto [found, is_new] = shapes_.try_emplace({pod.profile, &*pod.shape});
    OfShape& shape = found->second;
    if (!is_new) return shape;
    const PreparedShape prepared(world_.profiles[pod.profile], *pod.shape,
                                 {world_.names, world_.statistics.last()});
    shape.gpus = gpu_pieces(pod.shape->requests, world_.names);
    for (const auto& [resource, amount] : pod.shape->requests) {
      const bool is_instance =
          gpu::kind_of_resource(world_.names.name(resource)) == gpu::ResourceKind::kInstance;
      if (is_instance) shape.instances = saturating_add(shape.instances, amount);
    }
    shape.asks = gpu_asks(*pod.shape, world_.names);
    if (prepared.rejection()) shape.never = prepared.rejection()->reason;
    return shape;
  }

  const World& world_;
  const Queues& queue_;
  std::map<std::pair<std::size_t, const PodShape*>, OfShape> shapes_;
};

std::vector<PodInLine> Questions::in_line(std::string_view namespace_) const {
  Lines lines(world_, queue_);
  std::vector<PodInLine> pods;
  if (namespace_.empty()) pods.reserve(queue_.entities().size());
  for (const Entity* entity : queue_.entities()) {
    const WaitingPod& first = pod_of(*entity);
    if (!namespace_.empty() && first.pod.metadata.namespace_ != namespace_) continue;
    for_each_pod(*entity, [&](const WaitingPod& pod) { pods.push_back(lines.row(pod)); });
  }
  return pods;
}

std::optional<PodInLine> Questions::find_in_line(const std::string& uid) const {
  const PodRecord* known = world_.pods.find(uid);
  if (known == nullptr || known->waiting() == nullptr) return std::nullopt;
  return Lines(world_, queue_).row(*known->waiting());
}

std::optional<PodInLine> Questions::find_in_line(std::string_view namespace_,
                                                 std::string_view name) const {
  const WaitingPod* found = nullptr;
  for (const Entity* entity : queue_.entities()) {
    if (pod_of(*entity).pod.metadata.namespace_ != namespace_) continue;
    for_each_pod(*entity, [&](const WaitingPod& pod) {
      if (pod.pod.metadata.name == name) found = &pod;
    });
  }
  if (found == nullptr) return std::nullopt;
  return Lines(world_, queue_).row(*found);
}

}  // namespace sched
