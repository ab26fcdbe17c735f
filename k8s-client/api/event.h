// An event as it is written; events are not read here.
#pragma once

#include "k8s-client/api/meta.h"

#include <cstdint>
#include <string>

namespace k8s {

// events.k8s.io/v1 Event. Source:
// kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1.
struct EventObject {
  std::string namespace_;      // filled by the recorder: the object's, "default" if it has none
  std::string name;            // filled by the recorder: "<object>.<hex>"
  StringMap annotations;       // of a repeated event those of the first
  std::string regarding_kind;  // "Pod", "Node"
  std::string regarding_api_version = "v1";
  std::string regarding_namespace;
  std::string regarding_name;
  std::string regarding_uid;
  std::string reason;                // "Scheduled"
  std::string action;                // "Binding"
  std::string type;                  // "Normal", "Warning"
  std::string note;                  // cut to 1024 bytes at a character boundary, " ..." at the end
  std::string reporting_controller;  // the scheduler's name
  std::string reporting_instance;    // "<scheduler>-<host name>", cut to 128 bytes
  Timestamp event_time{};
  // Of a repeated event, at least 2; 0: not a series yet.
  std::int32_t series_count = 0;
  Timestamp series_last_observed{};
};

}  // namespace k8s
