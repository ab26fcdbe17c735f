// The texts that the author of a pod writes and that are kept while the pod waits: how many bytes
// they are, and how to get rid of them.
//
// Of a waiting pod the whole object is stored, and its rules once more in its shape and its class.
// The API server takes 1.5 MiB, and bounds the length of few texts: of an image it bounds none.
//
// Not counted: the names of resources. Pods with very many of them are refused otherwise
// (pod_requests.h).
#pragma once

#include "k8s-client/api/pod.h"

#include <cstddef>

namespace sched {

// The bytes of its labels, of the annotations that are read, of the owner that manages it, of its
// rules, volumes and images. O(size of the pod).
[[nodiscard]] std::size_t text_bytes(const k8s::Pod& pod);

// Drops all of that, but for one scheduling gate, so that a gated pod stays gated.
void drop_text(k8s::Pod& pod);

}  // namespace sched
