// What kubelets did to pods → which nodes are backed off, and what is told of it.
//
// Whoever may create pods may name their node, and so have kubelets reject what never fitted there.
// So a rejection speaks against its node only where the node has room for the pod, as far as is
// known; and OutOf… only where this process chose the node. A pod that names one of our profiles
// and has a node when it is first seen may be one that the process before this one bound, or one
// that its author put there, and nothing tells which: it counts as a stranger's, for
// UnexpectedAdmissionError alone. What is lost by that is little: a black hole goes on rejecting
// what this process binds there.
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
  // All nodes and pods are known: what was told before can be judged.
  void synced(Time now);
  // A pod that took something on a node is gone. Its rejection may yet be told.
  void pod_gone(const std::string& uid, const Placement& held);
  // A bound pod was seen; if it runs on a node that is backed off, the node may be released.
  void pod_seen(const k8s::Pod& pod, Time now);
  // Facts of a node are about to be published: what is known against the node becomes part of them.
  void complete(NodeFacts& facts) const;
  void node_gone(const std::string& node);
  // Ends the back-offs whose time is over.
  void advance(Time now);
  // When advance() will next have something to do; nullopt: never.
  [[nodiscard]] std::optional<Time> next_end() const;

  // The next that is to be told; nullopt: nothing.
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

  [[nodiscard]] bool speaks_against_node(const event::PodRejected& event, NodeSlot slot) const;
  void released(const std::string& node, bool proven);
  // The node's facts say what black_holes_ says.
  void publish(const std::string& node);

  World& world_;
  std::optional<BlackHoles> black_holes_;
  std::map<std::string, Decision> news_;  // by node: the latest that is not told yet
  bool synced_ = false;
  std::deque<event::PodRejected> early_;  // the latest before Synced
  // The latest pods that this process put on a node and that went without being seen to start.
  std::deque<Gone> gone_;
};

}  // namespace sched
