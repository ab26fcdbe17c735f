// What kubelets did to pods → which nodes are backed off, and what is told of it.
#pragma once

#include "scheduler/base/event.h"
#include "scheduler/engine/decision.h"
#include "scheduler/engine/health/black_holes.h"
#include "scheduler/engine/world/world.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sched {

class NodeHealth {
 public:
  // `world` outlives it. Does nothing unless a filter of a profile reads back-offs.
  explicit NodeHealth(World& world);

  void pod_rejected(const event::PodRejected& event, Time now);
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
  void released(const std::string& node, bool proven);
  // The node's facts say what black_holes_ says.
  void publish(const std::string& node);

  World& world_;
  std::optional<BlackHoles> black_holes_;
  std::map<std::string, Decision> news_;  // by node: the latest that is not told yet
};

}  // namespace sched
