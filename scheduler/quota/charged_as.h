// Which GPUs a bound pod is charged for while its node does not say.
//
// A node says by its labels which GPUs it has, and a pod is charged for those, whoever bound it and
// whenever: whoever reads the API server comes to the same account. But labels go and come back
// (whoever writes them is upgraded, or restarted), and nodes are deleted before their pods. Were
// the pods charged to another line meanwhile, or to none, then their own would seem to have room.
// So each pod that is bound while quotas are in force carries a note of what its node said then.
// It counts while the node says nothing; as soon as the node speaks, the node is right.
//
// The note comes with the bind itself, as an annotation of the Binding, which the API server copies
// to the pod (kube-apiserver, pkg/registry/core/pod/storage); it costs no call, and another process
// reads it. What stood there before is replaced, by an empty note where the node does not say; what
// stands on pods of other schedulers is not read. Whoever may change bound pods can change it, and
// gains by it only where a node does not say what it has.
#pragma once

#include "k8s-client/api/pod.h"

#include <string>
#include <string_view>

namespace sched::quota {

// A product, as gpu::Product::name: "NVIDIA-H100-80GB-HBM3".
inline constexpr std::string_view kChargedAsAnnotation = "gpu-scheduler.io/charged-as";

[[nodiscard]] inline bool has_note(const k8s::Pod& pod) {
  return pod.metadata.annotations.find(kChargedAsAnnotation) != nullptr;
}

// Empty: there is no note, or the node did not say.
[[nodiscard]] inline std::string charged_as(const k8s::Pod& pod) {
  const std::string* product = pod.metadata.annotations.find(kChargedAsAnnotation);
  return product == nullptr ? std::string() : *product;
}

}  // namespace sched::quota
