#include "scheduler/engine/world/trial.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace sched {

void Trial::take_away(NodeSlot slot, const Occupant& occupant) {
  Overlay& overlay = touch(slot);
  overlay.gone.push_back(&occupant);
  if (subtract_claim(overlay.usage, occupant.claim)) return;
  overlay.usage = {};
  for_each_occupant(slot, overlay,
                    [&](const Occupant& stays) { add_claim(overlay.usage, stays.claim); });
}

void Trial::put_back(NodeSlot slot, const Occupant& occupant) {
  Overlay& overlay = touch(slot);
  overlay.gone.erase(std::find(overlay.gone.begin(), overlay.gone.end(), &occupant));
  add_claim(overlay.usage, occupant.claim);
}

void Trial::add(NodeSlot slot, const Occupant& occupant, const k8s::Pod* pod) {
  Overlay& overlay = touch(slot);
  overlay.added.push_back(occupant);
  if (pod != nullptr) {
    const PodClassRef& of = occupant.pod_class;
    overlay.added_pods.push_back(
        {pod, nodes_.name(slot), of.none() ? 0 : 1 + static_cast<std::size_t>(of.id())});
  }
  add_claim(overlay.usage, occupant.claim);
}

void Trial::replace(NodeSlot slot, NodeFacts facts) { touch(slot).facts = std::move(facts); }

NodeView Trial::view(NodeSlot slot) const {
  const Overlay* at = overlay(slot);
  if (at == nullptr) return nodes_.view(slot);
  return {at->facts ? *at->facts : nodes_.facts(slot), at->usage};
}

std::vector<const Occupant*> Trial::occupants(NodeSlot slot) const {
  const Overlay* at = overlay(slot);
  if (at == nullptr) return nodes_.occupants(slot);
  std::vector<const Occupant*> there;
  for_each_occupant(slot, *at, [&](const Occupant& occupant) { there.push_back(&occupant); });
  return there;
}

PodDifference Trial::difference() const {
  std::vector<std::string_view> gone;
  std::vector<PodDifference::Added> added;
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    for (const Occupant* occupant : overlays_[i].gone) {
      if (occupant->kind == Occupant::Kind::kPod) gone.push_back(*occupant->uid);
    }
    added.insert(added.end(), overlays_[i].added_pods.begin(), overlays_[i].added_pods.end());
  }
  return {std::move(gone), std::move(added)};
}

const Trial::Overlay* Trial::overlay(NodeSlot slot) const {
  const auto at = std::lower_bound(touched_.begin(), touched_.end(), slot);
  if (at == touched_.end() || *at != slot) return nullptr;
  return &overlays_[static_cast<std::size_t>(at - touched_.begin())];
}

Trial::Overlay& Trial::touch(NodeSlot slot) {
  const auto at = std::lower_bound(touched_.begin(), touched_.end(), slot);
  const auto overlay = overlays_.begin() + (at - touched_.begin());
  if (at != touched_.end() && *at == slot) return *overlay;
  touched_.insert(at, slot);
  return *overlays_.insert(overlay, {.facts = std::nullopt,
                                     .usage = nodes_.usage(slot),
                                     .gone = {},
                                     .added = {},
                                     .added_pods = {}});
}

template <typename Visit>
void Trial::for_each_occupant(NodeSlot slot, const Overlay& overlay, Visit&& visit) const {
  for (const Occupant* occupant : nodes_.occupants(slot)) {
    const bool is_gone =
        std::find(overlay.gone.begin(), overlay.gone.end(), occupant) != overlay.gone.end();
    if (!is_gone) visit(*occupant);
  }
  for (const Occupant& occupant : overlay.added) visit(occupant);
}

}  // namespace sched
