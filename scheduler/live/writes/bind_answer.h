// What the answer to a bind says of the bind.
//
// Not every answer is certain. One of 5xx may come from something between us and the server, or
// from a server that had given the write to etcd already. A 409 is no better by itself: the API
// server makes one of whatever kept it from writing, a lost connection to etcd too, and that write
// may still commit. It is certain only where its words say that the server has looked at the pod
// and decided against it. Source: Kubernetes 1.36, pkg/registry/core/pod/storage, BindingREST.
#pragma once

#include "k8s-client/error.h"

#include <cstdint>

namespace sched::live {

enum class BindAnswer : std::uint8_t {
  kRefused,   // certain: this call has not bound the pod, and to repeat it is no use
  kConflict,  // certain too; how the pod looks says what became of it
  kLater,     // certain: not done, the server asks for patience
  kUnknown,   // it may have been done, or may still be
};

// Of a bind call that did not succeed.
[[nodiscard]] BindAnswer bind_answer(const k8s::Error& error);

}  // namespace sched::live
