// With which pods a pod is spread by default: those that the same Services select, and that belong
// to the same ReplicationController, ReplicaSet or StatefulSet.
//
// Stored of these objects: names and selectors. Source: kube-scheduler
// framework/plugins/helper/spread.go, DefaultSelector.
#pragma once

#include "k8s-client/api/controllers.h"
#include "k8s-client/api/pod.h"

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plugins {

class DefaultSelectors {
 public:
  // Each function returns whether the selected pods change.
  bool set(const k8s::Service& service);
  bool set(const k8s::ReplicationController& controller);
  bool set(const k8s::ReplicaSet& set);
  bool set(const k8s::StatefulSet& set);
  bool erase_service(const std::string& namespace_, const std::string& name);
  bool erase_replication_controller(const std::string& namespace_, const std::string& name);
  bool erase_replica_set(const std::string& namespace_, const std::string& name);
  bool erase_stateful_set(const std::string& namespace_, const std::string& name);

  // The union of the selectors of all Services of its namespace that select the pod, and of the
  // controller that owns it. Empty: there is none, or none has a selector. O(labels of the pod ·
  // different selectors of Services that are listed under one of them).
  [[nodiscard]] k8s::LabelSelector of(const k8s::Pod& pod) const;
  // Whether of() may be non-empty; cheap.
  [[nodiscard]] static bool may_have(const k8s::Pod& pod);

 private:
  using Name = std::pair<std::string, std::string>;  // namespace, name
  struct Service {
    k8s::StringMap selector;  // not empty
    std::string filed_under;
  };
  struct Filed {
    k8s::StringMap selector;
    std::size_t services = 0;  // how many have it
  };

  void file(Service& service, const std::string& namespace_);
  void take_out(const Service& service);
  bool replace_service(const Name& name, const k8s::StringMap& selector);
  void merge_services(const k8s::Pod& pod, k8s::StringMap& into) const;

  std::map<Name, Service> services_;  // those with a selector
  // By namespace and one label of the selector: the label with the fewest entries at that time, so
  // that the cost of a decision does not grow with the number of Services.
  std::map<std::string, std::vector<Filed>> filed_;
  std::map<Name, k8s::StringMap> replication_controllers_;
  std::map<Name, k8s::LabelSelector> replica_sets_;
  std::map<Name, k8s::LabelSelector> stateful_sets_;
};

}  // namespace plugins
