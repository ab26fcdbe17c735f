// The nodes that a pod's nodeSelector and required node affinity allow.
#pragma once

#include "k8s-client/api/pod.h"
#include "scheduler/framework/node_view.h"
#include "scheduler/framework/pod_shape.h"

#include <optional>
#include <string>

namespace plugins {

class RequiredNodes {
 public:
  explicit RequiredNodes(const sched::PodShape& shape)
      : RequiredNodes(shape.node_selector, shape.node_affinity) {}
  explicit RequiredNodes(const k8s::Pod::Spec& spec)
      : RequiredNodes(spec.node_selector, spec.node_affinity) {}

  // Terms that kube-scheduler cannot read match nothing (terms.h).
  [[nodiscard]] bool match(const sched::NodeFacts& node) const;
  [[nodiscard]] const k8s::StringMap& selector() const { return selector_; }
  [[nodiscard]] const std::optional<k8s::NodeSelector>& terms() const { return terms_; }
  // Text that is equal exactly if the requirements are.
  [[nodiscard]] std::string text() const;

 private:
  RequiredNodes(k8s::StringMap selector, const std::optional<k8s::NodeAffinity>& affinity);

  k8s::StringMap selector_;
  std::optional<k8s::NodeSelector> terms_;  // absent: any node
};

}  // namespace plugins
