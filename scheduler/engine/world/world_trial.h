// The world as it would be: nodes and accounts without some pods, and with others.
#pragma once

#include "scheduler/engine/world/pods.h"
#include "scheduler/engine/world/trial.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/quota/ledger_trial.h"

namespace sched {

struct WorldTrial {
  // `world` outlives the trial and does not change meanwhile.
  explicit WorldTrial(const World& world) : nodes(world.nodes), quota(world.ledger) {}

  // Puts a waiting pod on a node that exists. The pod outlives the trial.
  void add(const WaitingPod& pod, NodeSlot node) {
    Occupant occupant = occupant_of(pod.pod, claim_of(*pod.shape), pod.pod_class, true);
    occupant.uid = &pod.pod.metadata.uid;
    nodes.add(node, occupant, &pod.pod);
    if (pod.demand.is_none()) return;
    quota.add(pod.pod.metadata.namespace_, pod.demand, nodes.view(node).facts.charge_class);
  }

  // Frees what the pod holds, if anything: its room and its quota.
  void take_away(const PodRecord& pod) {
    if (pod.placement()) nodes.take_away(pod.placement()->node(), pod.placement()->occupant());
    if (pod.charged() != nullptr) quota.take_away(*pod.charged());
  }

  Trial nodes;
  quota::LedgerTrial quota;
};

}  // namespace sched
