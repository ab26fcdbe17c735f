// The nodes whose kubelet rejected a pod with TopologyAffinityError: pods that ask for the same are
// not placed there for a while.
//
// With the topology manager's policy `restricted` or `single-numa-node`, kubelet rejects a pod
// whose CPUs and devices it cannot align, although the node has enough of each. The scheduler
// cannot see that. Without this, the pod's controller creates the next pod, it is bound to the same
// node, and that one is rejected, too. The node is left out for a minute after the first rejection,
// and twice as long after each further one, for pods with the same requests only: others may fit.
// Source: Kubernetes, "Control Topology Management Policies on a node".
//
// Memory: kMost pairs of node and requests; the oldest are forgotten.
#pragma once

#include "scheduler/base/types.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sched {

class TopologyRejections {
 public:
  static constexpr std::chrono::minutes kShortest{1};
  static constexpr std::chrono::minutes kLongest{30};
  static constexpr std::size_t kMost = 1'000;
  using Requests = std::map<std::string, std::int64_t>;  // as in event::PodRejected

  // The node's kubelet rejected the pod of that uid. A repeated event counts once.
  void add(const std::string& node, const Requests& requests, const std::string& uid, Time now);
  // The node is gone: what it rejected does not count against another node of its name, even if it
  // is repeated. O(pairs).
  void node_gone(const std::string& node);
  // Ends what is over by `now`. A pair is forgotten kLongest after its end. O(1) until the next of
  // these; then O(pairs).
  void forget(Time now);

  // No node is left out for any pod.
  [[nodiscard]] bool none() const { return out_ == 0; }
  // Grows whenever a node is not left out any more, for some pods.
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  // The nodes that are left out for pods with these requests, by name. O(pairs).
  [[nodiscard]] std::vector<std::string> left_out(const Requests& requests) const;
  // When the first of the nodes is tried again; nullopt: none() is true. O(1).
  [[nodiscard]] std::optional<Time> next_end() const { return next_end_; }

 private:
  static constexpr std::size_t kMostPods = 8;
  struct Rejection {
    std::string node;
    Requests requests;
    std::vector<std::string> pods;  // the uids of the latest, at most kMostPods
    int times = 0;
    Time until{};
    bool is_out = true;
  };
  void end(Rejection& over);
  void look_ahead();

  std::vector<Rejection> rejections_;  // in the order of their first pod
  std::size_t out_ = 0;                // how many of them have is_out
  std::uint64_t ended_ = 0;
  std::optional<Time> next_end_;     // the first end among these
  std::optional<Time> next_change_;  // when the first ends or is forgotten; nullopt: there is none
};

}  // namespace sched
