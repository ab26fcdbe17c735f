// What is stored of objects before they go to the engine: the engine stores no names of bound pods,
// and no pods that none of its profiles serves.
#pragma once

#include "scheduler/answers/pod_names.h"
#include "scheduler/base/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sched::kubectl {

using PodName = std::pair<std::string, std::string>;  // namespace and name

// What a command needs besides names.
struct Wanted {
  std::optional<PodName> pod = {};
  bool nodes = false;
  bool pods = false;                   // by name
  std::set<std::string> pods_on = {};  // nodes
};

class Notes {
 public:
  // `served`: the scheduler names of the engine's profiles.
  Notes(std::set<std::string> served, Wanted wanted)
      : served_(std::move(served)), wanted_(std::move(wanted)) {}

  // Stores what is needed of an object that goes to the engine.
  void see(const Event& event);

  // The priorities that pods have by their classes.
  [[nodiscard]] const std::map<std::string, std::int32_t>& priorities() const {
    return priorities_;
  }

  [[nodiscard]] const std::set<std::string>& served() const { return served_; }
  [[nodiscard]] const answers::PodNames& names() const { return names_; }
  // The wanted pod; nullopt: there is no such pod that has not finished.
  [[nodiscard]] const std::optional<k8s::Pod>& pod() const { return pod_; }
  // What was probably meant if there is no such pod: "; there is vision/v3". May be empty.
  [[nodiscard]] std::string instead_of_pod() const;
  // The same of a namespace.
  [[nodiscard]] std::string instead_of_namespace(const std::string& name) const;
  // Those that have not finished, by name; unless all are wanted, some.
  [[nodiscard]] const std::map<PodName, PodRef>& pods() const { return pods_; }
  // By name; empty unless wanted.
  [[nodiscard]] const std::map<std::string, k8s::Node>& nodes() const { return nodes_; }
  // When GpuQuotas were created, by name.
  [[nodiscard]] const std::map<std::string, Time>& quotas() const { return quotas_; }
  // The pods on the nodes in Wanted::pods_on.
  [[nodiscard]] const std::vector<k8s::Pod>& pods_on_nodes() const { return pods_on_nodes_; }
  // Pods that ask for GPUs, or misspell one of the served names, and wait for a scheduler that is
  // not served.
  [[nodiscard]] const std::vector<k8s::Pod>& unserved() const { return unserved_; }

 private:
  void see_pod(const k8s::Pod& pod);

  const std::set<std::string> served_;
  const Wanted wanted_;
  answers::PodNames names_;
  std::map<std::string, std::int32_t> priorities_;
  std::optional<k8s::Pod> pod_;
  // All, or those with the wanted pod's name or namespace.
  std::map<PodName, PodRef> pods_;
  std::set<std::string> namespaces_;
  bool is_node_ = false;  // whether a node has the wanted pod's name
  std::map<std::string, k8s::Node> nodes_;
  std::map<std::string, Time> quotas_;
  std::vector<k8s::Pod> pods_on_nodes_;
  std::vector<k8s::Pod> unserved_;
};

}  // namespace sched::kubectl
