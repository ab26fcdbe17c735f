#include "scheduler/engine/world/trial.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sched {

void Trial::take_away(NodeSlot slot, const Occupant& occupant) {
  Overlay& overlay = touch(slot);
  overlay.gone.push_back(&occupant);
  if (!subtract_claim(overlay.usage, occupant.claim)) sum_up(slot, overlay);
}

void Trial::put_back(NodeSlot slot, const Occupant& occupant) {
  Overlay& overlay = touch(slot);
  overlay.gone.erase(std::find(overlay.gone.begin(), overlay.gone.end(), &occupant));
  add_claim(overlay.usage, occupant.claim);
}

void Trial::add(NodeSlot slot, const Claim& claim) {
  Overlay& overlay = touch(slot);
  overlay.added.push_back(claim);
  add_claim(overlay.usage, claim);
}

void Trial::replace(NodeSlot slot, NodeFacts facts) { touch(slot).facts = std::move(facts); }

NodeView Trial::view(NodeSlot slot) const {
  const auto at = std::lower_bound(touched_.begin(), touched_.end(), slot);
  if (at == touched_.end() || *at != slot) return nodes_.view(slot);
  const Overlay& overlay = overlays_[static_cast<std::size_t>(at - touched_.begin())];
  return {overlay.facts ? *overlay.facts : nodes_.facts(slot), overlay.usage};
}

Trial::Overlay& Trial::touch(NodeSlot slot) {
  const auto at = std::lower_bound(touched_.begin(), touched_.end(), slot);
  const auto overlay = overlays_.begin() + (at - touched_.begin());
  if (at != touched_.end() && *at == slot) return *overlay;
  touched_.insert(at, slot);
  return *overlays_.insert(
      overlay, {.facts = std::nullopt, .usage = nodes_.usage(slot), .gone = {}, .added = {}});
}

void Trial::sum_up(NodeSlot slot, Overlay& overlay) const {
  overlay.usage = {};
  for (const Occupant* occupant : nodes_.occupants(slot)) {
    const bool is_gone =
        std::find(overlay.gone.begin(), overlay.gone.end(), occupant) != overlay.gone.end();
    if (!is_gone) add_claim(overlay.usage, occupant->claim);
  }
  for (const Claim& claim : overlay.added) add_claim(overlay.usage, claim);
}

}  // namespace sched
