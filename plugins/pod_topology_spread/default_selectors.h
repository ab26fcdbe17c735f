// Which pods a pod is spread with by default: those that the same Services select, and that are of
// the same ReplicationController, ReplicaSet or StatefulSet.
//
// Of these objects names and selectors are kept.
// Source: kube-scheduler framework/plugins/helper/spread.go, DefaultSelector.
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
  // Whether something else is selected than before.
  bool set(const k8s::Service& service);
  bool set(const k8s::ReplicationController& controller);
  bool set(const k8s::ReplicaSet& set);
  bool set(const k8s::StatefulSet& set);
  bool erase_service(const std::string& namespace_, const std::string& name);
  bool erase_replication_controller(const std::string& namespace_, const std::string& name);
  bool erase_replica_set(const std::string& namespace_, const std::string& name);
  bool erase_stateful_set(const std::string& namespace_, const std::string& name);

  // Together what all Services of its namespace that select the pod, and the controller that owns
  // it, select by. Empty: there is none, or none says anything. O(labels of the pod · different
  // selectors of Services that are filed under one of them).
  [[nodiscard]] k8s::LabelSelector of(const k8s::Pod& pod) const;
  // Whether of() may be anything but empty; cheap.
  [[nodiscard]] static bool may_have(const k8s::Pod& pod);

 private:
  using Name = std::pair<std::string, std::string>;  // namespace, name
  struct Service {
    k8s::StringMap selector;  // not empty
    std::string filed_under;
  };
  struct Filed {
    k8s::StringMap selector;
    std::size_t services = 0;  // that have it
  };

  void file(Service& service, const std::string& namespace_);
  void take_out(const Service& service);
  bool replace_service(const Name& name, const k8s::StringMap& selector);
  void merge_services(const k8s::Pod& pod, k8s::StringMap& into) const;

  std::map<Name, Service> services_;  // those that select some pods
  // By namespace and one label of the selector: the label with the fewest entries at that time, so
  // that the cost of a decision does not grow with the number of Services.
  std::unordered_map<std::string, std::vector<Filed>> filed_;
  std::map<Name, k8s::StringMap> replication_controllers_;
  std::map<Name, k8s::LabelSelector> replica_sets_;
  std::map<Name, k8s::LabelSelector> stateful_sets_;
};

}  // namespace plugins
