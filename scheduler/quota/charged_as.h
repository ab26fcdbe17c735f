// What is noted on a bound pod about its charge: for which GPUs, and when.
//
// A node's labels name its GPUs, and each pod there is charged for those, whichever scheduler bound
// it and whenever. So every process that reads the API server computes the same account. But labels
// can be missing for a while (the component that writes them is upgraded or restarted), and nodes
// are deleted before their pods. If the pods were charged to another line meanwhile, or to none,
// their own line would seem to have room. So each pod that is bound while quotas are in force gets
// a note with the product that its node's labels named then. The note counts only while the labels
// name no product.
//
// The time of the charge orders loans: of the pods of a line that uses more than its guarantee,
// those that were charged last borrow. No field of a pod has that order: many pods are bound in one
// second.
//
// The notes are annotations of the Binding, which the API server copies to the pod (kube-apiserver,
// pkg/registry/core/pod/storage). So they cost no extra call, and another process can read them.
// They replace older notes; if the node's labels name no product, that note is empty. Notes on pods
// of other schedulers are not read. A user who may change bound pods can change the notes. A false
// product has an effect only while the node's labels name none; a text that is too long for a
// product is ignored. A false time makes the pod's loan at most as old as the pod; a time in the
// future is ignored.
#pragma once

#include "k8s-client/api/pod.h"

#include <string>
#include <string_view>

namespace sched::quota {

// A product, as gpu::Product::name: "NVIDIA-H100-80GB-HBM3".
inline constexpr std::string_view kChargedAsAnnotation = "gpu-scheduler.io/charged-as";
// A time, as metav1.MicroTime: "2026-11-24T15:16:53.000123Z".
inline constexpr std::string_view kChargedAtAnnotation = "gpu-scheduler.io/charged-at";

struct ChargeNote {
  std::string product;  // empty: there is no note, or the node's labels named no product
  k8s::Timestamp at{};  // the pod's creation if there is no note, or none that can be true
  friend bool operator==(const ChargeNote&, const ChargeNote&) = default;
};

[[nodiscard]] inline bool has_note(const k8s::Pod& pod) {
  return pod.metadata.annotations.find(kChargedAsAnnotation) != nullptr ||
         pod.metadata.annotations.find(kChargedAtAnnotation) != nullptr;
}

[[nodiscard]] ChargeNote note_on(const k8s::Pod& pod, k8s::Timestamp now);
[[nodiscard]] ChargeNote no_note(const k8s::Pod& pod);

// The time as its annotation has it.
[[nodiscard]] std::string text_of(k8s::Timestamp charged_at);

}  // namespace sched::quota
