#include "scheduler/engine/questions/gpu_pieces.h"
#include "scheduler/engine/questions/questions.h"
#include "scheduler/quota/type_choice.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace sched {
namespace {

void add(GpuTotals::Form& form, const GpuPieces& pieces, std::optional<GpusClosed> closed) {
  form.used += pieces.used;
  if (closed) {
    if (pieces.free() > 0) form.closed[*closed] += pieces.free();
    return;
  }
  form.free += pieces.free();
  form.largest_block = std::max(form.largest_block, pieces.free());
  if (pieces.used == 0) ++form.whole_nodes_free;
}

// The same names as asked_type(), so that what is free can be compared with what is asked for.
std::string type_of(const gpu::Product& product) {
  return product.gpu_class == nullptr || product.is_part ? product.name
                                                         : std::string(product.gpu_class->name);
}

// A pod may name any text as a type: only known classes have a name here.
std::string asked_type(const PodShape& shape) {
  const quota::TypeChoice choice = quota::choice_of(shape, true);
  const auto types = quota::named_types(choice);
  if (types.empty()) {
    const bool says_nothing = choice.required.empty() && choice.alternatives.empty();
    return says_nothing ? "any" : "other";
  }
  const gpu::GpuClass* const one = types.front().gpu_class;
  const bool all_of_it = std::all_of(types.begin(), types.end(), [&](const auto& type) {
    return type.gpu_class == one && type.mig_profile.empty();
  });
  return one != nullptr && all_of_it ? std::string(one->name) : "other";
}

GpuTotals::Queue queue_of(QueuePlace place) {
  switch (place) {
    case QueuePlace::kBackoff:
      return GpuTotals::Queue::kBackoff;
    case QueuePlace::kParked:
    case QueuePlace::kRefused:
      return GpuTotals::Queue::kUnschedulable;
    case QueuePlace::kGated:
      return GpuTotals::Queue::kGated;
    case QueuePlace::kNone:
    case QueuePlace::kActive:
      break;
  }
  return GpuTotals::Queue::kActive;
}

}  // namespace

GpuTotals Questions::gpu_totals() const {
  GpuTotals totals;
  std::map<std::pair<std::string, std::string>, GpuTotals::Form> forms;
  for (NodeSlot slot = 0; slot < world_.nodes.slots(); ++slot) {
    if (!world_.nodes.present(slot)) continue;
    const NodeView view = world_.nodes.view(slot);
    if (!view.facts.gpu.has_gpu()) continue;
    const std::optional<GpusClosed> closed = closed_by(view.facts);
    const std::string type = type_of(view.facts.gpu.product);
    for (const GpuPieces& pieces : pieces_of(view, world_.names)) {
      // Kubelet keeps the names of removed devices, with an amount of zero.
      if (pieces.total == 0 && pieces.used == 0) continue;
      add(forms[{type, pieces.form()}], pieces, closed);
    }
  }
  for (auto& [name, form] : forms) {
    std::tie(form.type, form.form) = name;
    totals.forms.push_back(std::move(form));
  }

  struct Asks {
    std::int64_t gpus = 0;
    std::string type;
  };
  std::unordered_map<ShapeId, Asks> shapes;
  for (const Entity* entity : queue_.entities()) {
    const WaitingPod& pod = pod_of(*entity);
    const auto [asks, is_new] = shapes.try_emplace(pod.shape.id());
    if (is_new) {
      asks->second.gpus = gpu_pieces(pod.shape->requests, world_.names);
      asks->second.type = asks->second.gpus == 0 ? "none" : asked_type(*pod.shape);
    }
    const std::pair key(queue_of(pod.place), asks->second.type);
    const auto [known, is_first] = totals.waiting.try_emplace(key);
    GpuTotals::Waiting& waiting = known->second;
    waiting.oldest = is_first ? pod.waits_since : std::min(waiting.oldest, pod.waits_since);
    ++waiting.pods;
    waiting.gpus = saturating_add(waiting.gpus, asks->second.gpus);
  }
  return totals;
}

}  // namespace sched
