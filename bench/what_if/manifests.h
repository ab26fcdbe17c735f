// Pods from manifest files, and the storage that comes with them, as the API server would have
// taken them.
#pragma once

#include "k8s-client/api/pod.h"
#include "k8s-client/error.h"
#include "scheduler/base/event.h"

#include <string>
#include <vector>

namespace bench {

struct Manifests {
  std::vector<k8s::Pod> pods;
  // What the engine is to be told before them: claims, volumes, objects of storage.k8s.io.
  std::vector<sched::Event> storage;
};

// Every object of a YAML file of one or more documents; one that is neither a pod nor of storage is
// an error. What the API server adds is added: a namespace, to pods a uid, requests from limits and
// the default scheduler's name, to claims the phase Pending, to storage classes immediate binding.
// A claim without a class gets none: the cluster's default is the API server's to give.
[[nodiscard]] k8s::Result<Manifests> load_manifests(const std::string& file,
                                                    const std::string& namespace_);

}  // namespace bench
