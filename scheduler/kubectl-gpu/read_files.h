// Reads objects from files: the output of `kubectl get -o json`, or manifests in YAML.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/base/event.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::kubectl {

// One object: its kind, the object as JSON, and its place ("FILE:LINE", or "FILE: items[3]").
using EachObject = std::function<k8s::Result<void>(std::string_view kind, std::string_view json)>;

// Calls `each` for every object of the file; those of a List one by one. An error from `each` ends
// it, and the object's place is added to the error.
[[nodiscard]] k8s::Result<void> for_each_object(const std::string& file, const EachObject& each);

// The object as an event, for kinds that are events of the engine; for a finished pod, its
// rejection by kubelet, if it was one. nullopt: the object does not matter.
[[nodiscard]] k8s::Result<std::optional<Event>> event_of(std::string_view kind,
                                                         std::string_view json);

// Gives the object of an event what the API server gives those that are created, for manifests: the
// namespace, if its kind has one and it names none, a uid, and defaults. One from an API server is
// not changed.
void complete(Event& event, const std::string& namespace_);

// The files' objects to `sink`, as if the API server had listed them: manifests are completed, in
// the namespace "default". Other kinds are skipped.
[[nodiscard]] k8s::Result<void> read_files(const std::vector<std::string>& files,
                                           const std::function<void(Event)>& sink);

}  // namespace sched::kubectl
