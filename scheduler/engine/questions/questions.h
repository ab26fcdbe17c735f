// Answers from the state, without changing it. About a pod: how it would be judged now, node by
// node, which nodes it could go to, what would make room for it, and after which changes to it a
// node would take it. About the cluster: its GPUs, and the waiting pods.
//
// Questions about a pod ask the finder about each node, and store nothing. Tests compare the
// answers with those from the finder's caches, and answers about what is supposed with those of an
// engine in which it has really happened.
#pragma once

#include "scheduler/engine/answers.h"
#include "scheduler/engine/engine.h"
#include "scheduler/engine/finder/finder.h"
#include "scheduler/engine/line/holds.h"
#include "scheduler/engine/line/quota_search.h"
#include "scheduler/engine/report/quota_words.h"
#include "scheduler/engine/world/world.h"
#include "scheduler/engine/world/world_trial.h"
#include "scheduler/queue/queues.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

class Questions {
 public:
  // All borrowed things outlive it.
  Questions(const World& world, const Finder& finder, const Holds& holds, const QuotaSearch& search,
            const QuotaWords& words, const Queues& queue)
      : world_(world),
        finder_(finder),
        holds_(holds),
        search_(search),
        words_(words),
        queue_(queue) {}

  // As Engine's functions.
  [[nodiscard]] Explanation explain(const k8s::Pod& pod, const Supposed& supposed) const;
  [[nodiscard]] Explanation explain_alike(const k8s::Pod& pod) const;
  [[nodiscard]] std::vector<Candidate> candidates(const k8s::Pod& pod, std::size_t at_most,
                                                  const Supposed& supposed) const;
  [[nodiscard]] RoomFor room_for(const k8s::Pod& pod) const;
  [[nodiscard]] std::vector<PodChange> changes_for(const k8s::Pod& pod) const;
  [[nodiscard]] std::vector<GpuNode> gpu_nodes(bool with_tenants) const;
  [[nodiscard]] std::optional<GpuNode> gpu_node(const std::string& name) const;
  [[nodiscard]] std::vector<PodInLine> in_line(std::string_view namespace_) const;
  [[nodiscard]] std::optional<PodInLine> find_in_line(const std::string& uid) const;
  [[nodiscard]] std::optional<PodInLine> find_in_line(std::string_view namespace_,
                                                      std::string_view name) const;
  [[nodiscard]] GpuTotals gpu_totals() const;

 private:
  // The pod of a question, and the world in which it is judged. In that world the suppositions are
  // true, and what the pod itself holds is free, because it must not count against the pod.
  struct Asked {
    Asked(const World& world, const k8s::Pod& pod_asked_about, const Supposed& supposed = {});
    const k8s::Pod& pod;
    std::size_t profile;
    WorldTrial trial;
    ResourceNames names;  // including those that only this pod uses
    PodShape pod_shape;
    PreparedShape shape;
    Constraints constraints;              // those that concern it
    const WaitingPod* waiting = nullptr;  // null: the pod is new, or bound
  };
  // The quota's answer about the pod.
  struct Judgement {
    quota::Admission admission;
    bool refuses = false;  // whatever the nodes answer
    bool never = false;    // the quota can never give so much, or such GPUs
    std::string words;
  };
  class InWords;
  class Lines;
  [[nodiscard]] Explanation explained(const Asked& asked, bool each_node) const;
  // Whether the node would take the pod if `pods` had ended; the rules across nodes are applied,
  // too.
  [[nodiscard]] bool has_room_without(const k8s::Pod& pod, const std::vector<GpuTenant>& pods,
                                      NodeSlot node) const;
  [[nodiscard]] static const RefusedBinds& refused_binds_of(const Asked& asked);
  [[nodiscard]] bool is_beyond_quota(const k8s::Pod& pod) const;
  // nullopt: no quota counts the pod.
  [[nodiscard]] std::optional<Judgement> judge_by_quota(const Asked& asked) const;

  const World& world_;
  const Finder& finder_;
  const Holds& holds_;
  const QuotaSearch& search_;
  const QuotaWords& words_;
  const Queues& queue_;
};

}  // namespace sched
