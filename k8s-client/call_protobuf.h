// The bodies of the calls of client.h that go out by the thousands, binds and events, in protobuf:
// in JSON, reading them is a good part of what they cost the API server.
#pragma once

#include "k8s-client/api/event.h"
#include "k8s-client/calls.h"

#include <string>

namespace k8s {

// v1 Binding, for POST …/pods/NAME/binding.
[[nodiscard]] std::string binding_body(const Binding& binding);

// events.k8s.io/v1 Event, for POST.
[[nodiscard]] std::string event_body(const EventObject& event);

}  // namespace k8s
