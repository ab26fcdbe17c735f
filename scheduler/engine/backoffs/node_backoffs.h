// Rejections and starts of pods → which nodes are backed off, and what is reported about it.
//
// A user who may create pods may name their node, and so make a kubelet reject pods that never
// fitted there. So a rejection counts against its node only if the node has room for the pod, as
// far as is known; and OutOf… only if this process chose the node. A pod that names one of the
// profiles and has a node when it is first seen may have been bound by the previous process, or its
// author may have named the node. Nothing shows which, so it is treated as a pod that another
// program bound: only UnexpectedAdmissionError counts. Little is lost by that: a black hole also
// rejects what this process binds there.
//
// Memory: kMostEarly rejections until Synced, kMostGone uids.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/engine/backoffs/black_holes.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/world/world.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace sched {

class NodeBackoffs {
 public:
  // `world` outlives it. Does nothing unless a filter of a profile reads back-offs.
  explicit NodeBackoffs(World& world);

  void pod_rejected(const event::PodRejected& event, Time now);
  // All nodes and pods are known: earlier rejections can be judged now.
  void synced(Time now);
  // A pod that took something on a node is gone. Its rejection may still come.
  void pod_gone(const std::string& uid, const Placement& held);
  // A bound pod was seen; if it runs on a node that is backed off, that may end the back-off.
  void pod_seen(const k8s::Pod& pod, Time now);
  // Adds the node's record to its facts, which are about to be published.
  void complete(NodeFacts& facts) const;
  void node_gone(const std::string& node);
  // Ends the back-offs that are over by `now`.
  void advance(Time now);
  // When advance() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_end() const;

  // The next report; nullopt: none.
  [[nodiscard]] std::optional<Decision> next_news();

  [[nodiscard]] std::size_t nodes_backed_off() const;
  [[nodiscard]] std::uint64_t rejected_pods() const;

 private:
  static constexpr std::size_t kMostEarly = 1'024;
  static constexpr std::size_t kMostGone = 1'024;
  struct Gone {
    std::string uid;
    std::string node;
    friend bool operator==(const Gone&, const Gone&) = default;
  };

  // What the pod takes on that node; null: nothing any more.
  [[nodiscard]] const Occupant* occupant_of(const event::PodRejected& event, NodeSlot slot) const;
  // Whether this process placed the pod there, as far as is known.
  [[nodiscard]] bool is_chosen_here(const event::PodRejected& event, NodeSlot slot) const;
  // Whether the rejection counts against the node.
  [[nodiscard]] bool is_fault_of_node(const event::PodRejected& event, NodeSlot slot) const;
  void released(const std::string& node, bool proven);
  // Makes the node's facts equal to its record in black_holes_.
  void publish(const std::string& node);

  World& world_;
  std::optional<BlackHoles> black_holes_;
  std::map<std::string, Decision> news_;  // by node: the latest decision not reported yet
  bool synced_ = false;
  std::deque<event::PodRejected> early_;  // the latest ones before Synced
  // The latest pods that this process put on a node and that went before they were seen to start.
  std::deque<Gone> gone_;
};

}  // namespace sched
