// When two events are the same, and how an event is made valid for the API server.
//
// Pure functions on EventObject; the recorder does the queueing. The limits are those of
// kubernetes/pkg/apis/core/validation/events.go; without them a long message or host name would
// make the server refuse the whole event.
#pragma once

#include "k8s-client/api/event.h"

#include <cstdint>
#include <string>

namespace k8s {

// Equal for repetitions of one event: same object, reason, action, note, type and controller.
[[nodiscard]] std::string series_key(const EventObject& event);

// Equal for the events of one controller about one object.
[[nodiscard]] std::string object_key(const EventObject& event);

// Fills in namespace and name and cuts what is too long. `number` distinguishes the events of one
// microsecond.
void make_acceptable(EventObject& event, std::uint64_t number);

}  // namespace k8s
