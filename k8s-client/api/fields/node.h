// The fields of a Node.
#pragma once

#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/fields/meta.h"
#include "k8s-client/api/node.h"

namespace k8s {

void fields(Of<Taint> auto& taint, auto&& field) {
  field("key", taint.key, Always{});
  field("value", taint.value);
  field("effect", taint.effect);
}

void fields(Of<NodeCondition> auto& condition, auto&& field) {
  field("type", condition.type, Always{});
  field("status", condition.status, Always{});
  field("reason", condition.reason);
}

void fields(Of<ContainerImage> auto& image, auto&& field) {
  field("names", image.names);
  field("sizeBytes", image.size_bytes, Always{});
}

void fields(Of<Node::Spec> auto& spec, auto&& field) {
  field("unschedulable", spec.unschedulable);
  field("taints", spec.taints);
}

void fields(Of<Node::Status> auto& status, auto&& field) {
  field("capacity", status.capacity);
  field("allocatable", status.allocatable);
  field("conditions", status.conditions);
  field("images", status.images);
  field("declaredFeatures", status.declared_features);
}

void fields(Of<Node> auto& node, auto&& field) {
  field("metadata", node.metadata);
  field("spec", node.spec);
  field("status", node.status);
}

}  // namespace k8s
