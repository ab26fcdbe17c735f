// The fields of metav1: what all objects have, what lists have, and a Status.
#pragma once

#include "k8s-client/api/decode.h"
#include "k8s-client/api/fields/description.h"
#include "k8s-client/api/meta.h"

namespace k8s {

void fields(Of<OwnerReference> auto& owner, auto&& field) {
  field({"apiVersion", 5}, owner.api_version, Always{});
  field({"kind", 1}, owner.kind, Always{});
  field({"name", 3}, owner.name, Always{});
  field({"uid", 4}, owner.uid, Always{});
  field({"controller", 6}, owner.controller);
}

// The time of the delete request plus the grace period, which may be any number of seconds: only
// its presence counts, so that one out of range is read from protobuf as the last time there is.
struct DeletionTime {};

void fields(Of<ObjectMeta> auto& metadata, auto&& field) {
  field({"name", 1}, metadata.name);
  field({"namespace", 3}, metadata.namespace_);
  field({"uid", 5}, metadata.uid);
  field({"resourceVersion", 6}, metadata.resource_version);
  field({"generation", 7}, metadata.generation);
  field({"labels", 11}, metadata.labels);
  field({"annotations", 12}, metadata.annotations);
  field({"creationTimestamp", 8}, metadata.creation_timestamp);
  field({"deletionTimestamp", 9}, metadata.deletion_timestamp, DeletionTime{});
  field({"ownerReferences", 13}, metadata.owner_references);
}

void fields(Of<ListMeta> auto& metadata, auto&& field) {
  field({"resourceVersion", 2}, metadata.resource_version);
  field({"continue", 3}, metadata.continue_token);
}

void fields(Of<Status> auto& status, auto&& field) {
  field({"code", 6}, status.code);
  field({"reason", 4}, status.reason);
  field({"message", 3}, status.message);
  field({"details", 5}, IfAny{[&](auto&& details) {
          details({"retryAfterSeconds", 5}, status.retry_after_seconds);
        }});
}

}  // namespace k8s
