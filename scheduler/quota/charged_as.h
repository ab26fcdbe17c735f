// Which GPUs a bound pod is charged for while the labels of its node do not name them.
//
// A node's labels name its GPUs, and each pod there is charged for those, whichever scheduler bound
// it and whenever. So every process that reads the API server computes the same account. But labels
// can be missing for a while (the component that writes them is upgraded or restarted), and nodes
// are deleted before their pods. If the pods were charged to another line meanwhile, or to none,
// their own line would seem to have room. So each pod that is bound while quotas are in force gets
// a note with the product that its node's labels named then. The note counts only while the labels
// name no product.
//
// The note is an annotation of the Binding, which the API server copies to the pod (kube-apiserver,
// pkg/registry/core/pod/storage). So it costs no extra call, and another process can read it. It
// replaces an older note; if the node's labels name no product, the new note is empty. Notes on
// pods of other schedulers are not read. A user who may change bound pods can change the note; that
// has an effect only while the node's labels name no product.
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

// Empty: there is no note, or the node's labels named no product.
[[nodiscard]] inline std::string charged_as(const k8s::Pod& pod) {
  const std::string* product = pod.metadata.annotations.find(kChargedAsAnnotation);
  return product == nullptr ? std::string() : *product;
}

}  // namespace sched::quota
