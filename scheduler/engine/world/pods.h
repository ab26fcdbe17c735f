// The pods that matter to the engine: those that hold something on a node, of every scheduler, and
// those of this scheduler that wait for a node.
//
//                 ours, no node                    assume
//     (unknown) ───────────────▶ pending ───────────────────────▶ assumed
//         │                        │  ▲                            │  │
//         │ has a node             │  └────────────────────────────┘  │ has a node (any: the
//         │                        │ has a node     bind failed       │ claim moves), or the
//         │                        ▼                                  │ server took the bind
//         └───────────────────▶  bound  ◀─────────────────────────────┘
//
//     deleted, or finished: from every state to (unknown)
//
// A pod is identified by its uid: the same name with another uid is another pod. A terminating pod
// holds what it holds until it is deleted. Bound is final: a later event without a node is an old
// one. For a bound pod, only its claim and the data of its occupant are stored.
#pragma once

#include "scheduler/cluster/placement.h"
#include "scheduler/engine/world/waiting_pod.h"
#include "scheduler/quota/ledger.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace sched {

class PodRecord {
 public:
  enum class State : std::uint8_t { kPending, kAssumed, kBound };

  [[nodiscard]] State state() const {
    if (waiting_ == nullptr) return State::kBound;
    return placement_ ? State::kAssumed : State::kPending;
  }
  // Its name; null: it is bound, and no profile preempts.
  [[nodiscard]] const std::string* name() const {
    return waiting_ != nullptr ? &waiting_->pod.metadata.name : name_.get();
  }
  // Stores the name, which must be known when a bound pod is evicted.
  void remember_name(const std::string& name) {
    if (name_ == nullptr) name_ = std::make_unique<const std::string>(name);
  }
  // Null when bound.
  [[nodiscard]] WaitingPod* waiting() const { return waiting_.get(); }
  // Empty when pending.
  [[nodiscard]] const std::optional<Placement>& placement() const { return placement_; }
  // Null for a pod that holds no GPU.
  [[nodiscard]] const quota::Charge* charged() const { return charge_.get(); }

  // → pending, from unknown.
  void wait(std::unique_ptr<WaitingPod> waiting) { waiting_ = std::move(waiting); }
  // pending → assumed.
  void assume(Nodes& nodes, NodeSlot node, Occupant occupant);
  // assumed → pending.
  void forget() {
    charge_.reset();
    placement_.reset();
  }
  // → bound, from every state, or from bound with another claim or state. If the claim is the same,
  // nothing is written to the change log.
  void bind(Nodes& nodes, NodeSlot node, Occupant occupant);
  // assumed: updates the pod's own data and its class; its claim stays.
  void seen(const k8s::Pod& pod, PodClassRef pod_class);
  // assumed → bound, as assumed.
  void confirm() { waiting_.reset(); }

  // What a placed pod counts against its namespace's quota from now on; nothing if it asks for no
  // GPU.
  struct Charged {
    const std::string& uid;
    const std::string& namespace_;
    const std::string& charged_as;
    Time at{};  // when it was charged (quota/charged_as.h)
  };
  void charge(quota::Ledger& ledger, const Charged& pod, quota::Demand demand);

 private:
  friend class Pods;
  const std::string* uid_ = nullptr;  // the record's key in Pods
  std::unique_ptr<WaitingPod> waiting_;
  std::optional<Placement> placement_;
  std::unique_ptr<quota::Charge> charge_;
  std::unique_ptr<const std::string> name_;
};

class Pods {
 public:
  // The record of that uid, or null.
  [[nodiscard]] PodRecord* find(const std::string& uid);
  [[nodiscard]] const PodRecord* find(const std::string& uid) const;
  // The record of that uid, created if it does not exist; then it has no state yet and must be
  // given one.
  PodRecord& at(const std::string& uid);
  // Erases the pod; what it holds is free.
  void erase(const std::string& uid) { records_.erase(uid); }

  [[nodiscard]] std::size_t size() const { return records_.size(); }

 private:
  std::unordered_map<std::string, PodRecord> records_;  // by uid; never iterated
};

}  // namespace sched
