// Reads objects from files: the output of `kubectl get -o json`, or manifests in YAML.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/base/event.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::kubectl {

struct FoundObject {
  std::string_view api_version;  // may be empty
  std::string_view kind;
  std::string_view json;

  // Whether it is of the kind of an API group; empty: of Kubernetes' core. Other projects have
  // kinds of the same names.
  [[nodiscard]] bool is(std::string_view kind_name, std::string_view group) const;
};
using EachObject = std::function<k8s::Result<void>(const FoundObject& object)>;

// Calls `each` for every object of the file; those of a List one by one. An error from `each` ends
// it, and the object's place ("FILE:LINE", or "FILE: items[3]") is added to the error.
[[nodiscard]] k8s::Result<void> for_each_object(const std::string& file, const EachObject& each);

// The object as an event, for kinds that are events of the engine; for a finished pod, its
// rejection by kubelet, if it was one. nullopt: the object does not matter.
[[nodiscard]] k8s::Result<std::optional<Event>> event_of(const FoundObject& object);

// Gives the object of an event what the API server gives those that are created, for manifests: the
// namespace, if its kind has one and it names none, a uid, and defaults. One from an API server is
// not changed.
void complete(Event& event, const std::string& namespace_);

// The files' objects to `sink`, as if the API server had listed them: manifests are completed, in
// the namespace "default". Other kinds are skipped.
[[nodiscard]] k8s::Result<void> read_files(const std::vector<std::string>& files,
                                           const std::function<void(Event)>& sink);

}  // namespace sched::kubectl
