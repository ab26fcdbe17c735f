// What the answer to a bind means for the bind.
//
// Not every answer is certain. A 5xx may come from something between this process and the server,
// or from a server that had already passed the write to etcd. A 409 alone is no better: the API
// server returns it for anything that kept it from writing, also for a lost connection to etcd, and
// that write may still be committed. It is certain only if its message shows that the server has
// read the pod and refused because of it. Source: Kubernetes 1.36, pkg/registry/core/pod/storage,
// BindingREST.
//
// A server that has just started may not have read tokens (401) and roles (403) yet. Admission also
// answers 403, and may do so because of the node; the authorizer's is told by its words. Source:
// apiserver, pkg/endpoints/handlers/responsewriters, forbiddenMessage.
#pragma once

#include "k8s-client/error.h"

#include <cstdint>

namespace sched::live {

enum class BindAnswer : std::uint8_t {
  kRefused,     // certain: this call has not bound the pod, and a repetition would not help
  kNotAllowed,  // certain: not done, because of this process' identity or rights
  kConflict,    // certain, too; the state of the pod shows the outcome
  kLater,       // certain: not done, the server asks for a pause
  kUnknown,     // it may have been done, or may still be done
};

// Of a bind call that did not succeed.
[[nodiscard]] BindAnswer bind_answer(const k8s::Error& error);

}  // namespace sched::live
