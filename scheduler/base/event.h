// What the engine is told. Everything it knows comes through these, in order; the same sequence
// gives the same decisions.
#pragma once

#include "k8s-client/api/device_class.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/namespace.h"
#include "k8s-client/api/node.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"
#include "scheduler/base/types.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace sched {

namespace event {

// An object appeared or changed; a whole new state, not a difference. The same state twice is
// harmless.
struct NodeUpserted {
  k8s::Node node;
};
struct PodUpserted {
  k8s::Pod pod;
};
struct NamespaceUpserted {
  k8s::Namespace object;
};
struct VolumeClaimUpserted {
  k8s::PersistentVolumeClaim object;
};
struct VolumeUpserted {
  k8s::PersistentVolume object;
};
struct DeviceClassUpserted {
  k8s::DeviceClass object;
};
struct QuotaUpserted {
  k8s::GpuQuota object;
};

// An object is gone.
struct NodeDeleted {
  std::string name;
};
struct PodDeleted {
  PodRef pod;
};
struct NamespaceDeleted {
  std::string name;
};
struct VolumeClaimDeleted {
  std::string namespace_;
  std::string name;
};
struct VolumeDeleted {
  std::string name;
};
struct DeviceClassDeleted {
  std::string name;
};
struct QuotaDeleted {
  std::string name;
};

// The kubelet of a pod's node would not run it: it failed before it began. (The watch of unfinished
// pods shows it as deleted.)
struct PodRejected {
  PodRef pod;
  std::string node;
  std::string reason;  // the pod's: "UnexpectedAdmissionError", "OutOfnvidia.com/gpu"
  Time at{};           // by the kubelet's clock
  // What it asked for of extended resources, by name: the most that one container asks.
  std::map<std::string, std::int64_t> devices{};
  // What it asked for in all, by name, in the unit of the resource (resources.h). Empty: not known,
  // as in old recordings.
  std::map<std::string, std::int64_t> requests{};
};

// All watches have delivered the state of the cluster once, and no bind of an earlier process can
// land any more. Nothing is decided before it.
struct Synced {};

// The server took the bind. The capacity stays assumed until the watch shows the bound pod.
struct BindSucceeded {
  PodRef pod;
  std::string node;
};

// The bind is known to have failed and can never land (a bind whose outcome is unknown is not
// reported until it is known). The assumed capacity is free again.
struct BindFailed {
  enum class Because : std::uint8_t {
    kRefused,    // the API server did not carry it out
    kOvertaken,  // there is nothing to bind any more: the watch will tell
    kNotSent,    // it waited too long, and was not tried
  };
  PodRef pod;
  std::string node;
  std::string message;
  Because because = Because::kRefused;
};

}  // namespace event

using Event =
    std::variant<event::NodeUpserted, event::NodeDeleted, event::PodUpserted, event::PodDeleted,
                 event::NamespaceUpserted, event::NamespaceDeleted, event::VolumeClaimUpserted,
                 event::VolumeClaimDeleted, event::VolumeUpserted, event::VolumeDeleted,
                 event::DeviceClassUpserted, event::DeviceClassDeleted, event::QuotaUpserted,
                 event::QuotaDeleted, event::PodRejected, event::Synced, event::BindSucceeded,
                 event::BindFailed>;

}  // namespace sched
