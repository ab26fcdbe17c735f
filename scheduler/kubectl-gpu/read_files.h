// Objects from files: what `kubectl get -o json` prints, or manifests in YAML.
#pragma once

#include "k8s-client/error.h"
#include "scheduler/base/event.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sched::kubectl {

// One object: its kind, the object as JSON, and where it stands ("FILE:LINE", or "FILE: items[3]").
using EachObject = std::function<k8s::Result<void>(std::string_view kind, std::string_view json)>;

// Calls `each` for every object of the file; those of a List one by one. An error of `each` ends
// it, and gets the object's place.
[[nodiscard]] k8s::Result<void> for_each_object(const std::string& file, const EachObject& each);

// The object as an event, for kinds that the engine is told of; of a pod that has finished, what
// its kubelet did to it, if that matters. nullopt: it is of no concern.
[[nodiscard]] k8s::Result<std::optional<Event>> event_of(std::string_view kind,
                                                         std::string_view json);

// The files' objects to `sink`, as if the API server had listed them. Kinds that the engine is not
// told of are passed over.
[[nodiscard]] k8s::Result<void> read_files(const std::vector<std::string>& files,
                                           const std::function<void(Event)>& sink);

}  // namespace sched::kubectl
