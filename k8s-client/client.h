// The API calls of a scheduler, typed, over any Transport.
//
// Each call is one HTTP request and ends in exactly one callback on the event loop's thread. An
// answer of 2xx is a value, everything else an Error that names the call, the object, the status
// and the server's message: `pods "ml/train-0": bind to "gpu-7": 409 Conflict: …`. Idempotent calls
// (get, patch of a status) are repeated here after 429 and 503, not before Retry-After if the
// server sent it, a limited number of times (retry.h). Not repeated: a bind, of a pod or of a
// volume, because its outcome may be unknown, and only its caller can determine it (see
// Error::may_have_acted); the calls that make room for a pod (nominate, try_delete_pod,
// set_disruption_target, delete_pod), because only their caller knows for how long the room is
// needed; and events, because their recorder decides when to write.
#pragma once

#include "k8s-client/access_review.h"
#include "k8s-client/api/config_map.h"
#include "k8s-client/api/event.h"
#include "k8s-client/api/gpu_quota.h"
#include "k8s-client/api/lease.h"
#include "k8s-client/api/pod.h"
#include "k8s-client/api/storage.h"
#include "k8s-client/boot_clock.h"
#include "k8s-client/calls.h"
#include "k8s-client/error.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/http/transport.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s {

struct BindLimits {
  std::chrono::milliseconds deadline{30'000};
  // No byte of it is sent after this moment (Request::send_by).
  std::optional<BootClock::time_point> send_by = {};
};

// Called once per finished HTTP request, also for each repetition, for metrics: verb ("GET",
// "LIST", "WATCH", "POST", …), HTTP status (0: no answer).
using RequestObserver =
    std::function<void(std::string_view verb, int status, std::chrono::nanoseconds duration)>;

class Client {
 public:
  // Wall-clock time, for the timestamps of conditions.
  using WallClock = std::function<Timestamp()>;

  // `transport` and `loop` must outlive the client. Without `wall_clock` the system's is read.
  Client(Transport& transport, EventLoop& loop, WallClock wall_clock = {});
  // Calls under way then get no callback.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void set_observer(RequestObserver observer);

  // `limits.deadline` is also sent to the server (?timeout=), which then stops working on the bind:
  // so the bind cannot be carried out later than that after the server received it.
  void bind(const Binding& binding, BindLimits limits, std::function<void(Result<void>)> done);

  // 404 is an Error of kStatus.
  void get_pod(const std::string& namespace_, const std::string& name,
               std::function<void(Result<Pod>)> done,
               std::chrono::milliseconds deadline = std::chrono::seconds{30});

  // Strategic merge patch of pods/status that sets only the one condition, and the nominated node
  // if `condition` has one. It carries the uid, so that a later pod of the same name is not changed
  // (422: a uid is immutable), and the resource version, if there is one: 409 if the pod has
  // changed since, for example because it was bound. `pod` is the pod as last seen: its metadata
  // identify it, and its PodScheduled condition decides whether the status changes (only then
  // lastTransitionTime does).
  void set_pod_scheduled(const Pod& pod, const PodScheduledCondition& condition,
                         std::function<void(Result<void>)> done);

  // Merge patch of a claim with the node for which its volume is to be made: the annotation
  // volume.kubernetes.io/selected-node, which starts its provisioner. `claim` is the claim as last
  // seen: 409 if it has changed since, or if its name belongs to another claim by now. Sent once,
  // within the same limits as a bind: so it cannot be carried out later than that either.
  void select_node(const ObjectMeta& claim, const std::string& node, BindLimits limits,
                   std::function<void(Result<void>)> done);

  // Merge patch of a volume that reserves it for a claim: spec.claimRef, and the annotation
  // pv.kubernetes.io/bound-by-controller unless the volume named that claim before. The volume
  // controller does the rest. `volume` is the volume as last seen: 409 if it has changed since.
  // Sent once, as select_node is.
  void bind_volume(const PersistentVolume& volume, const ObjectMeta& claim, BindLimits limits,
                   std::function<void(Result<void>)> done);

  // Strategic merge patch of pods/status that sets only status.nominatedNodeName: the node on which
  // room is made for the pod. Empty: it is removed. Of `pod` only namespace, name and uid are read;
  // the patch carries the uid, so that a later pod of the same name is not changed (422: a uid is
  // immutable). Sent once, as select_node is.
  void nominate(const ObjectMeta& pod, const std::string& node, BindLimits limits,
                std::function<void(Result<void>)> done);

  // Strategic merge patch of pods/status that adds the condition DisruptionTarget=True with the
  // reason PreemptionByScheduler: a Job can then leave the pod's end out of its count of failures.
  // It carries the uid, as nominate does. Sent once, as select_node is.
  void set_disruption_target(const ObjectMeta& pod, const std::string& message, BindLimits limits,
                             std::function<void(Result<void>)> done);

  // Deletes the pod, with its own grace period. 404: it is gone. 409, and nothing is deleted: its
  // name belongs to another pod by now. So it may be called again after a lost answer. Sent once,
  // as select_node is.
  void delete_pod(const ObjectMeta& pod, BindLimits limits, std::function<void(Result<void>)> done);
  // What delete_pod would be answered now (a dry run): admission is asked, and nothing is deleted.
  void try_delete_pod(const ObjectMeta& pod, BindLimits limits,
                      std::function<void(Result<void>)> done);

  // Merge patch of gpuquotas/status that replaces the whole status. `quota` is the object as last
  // seen: its metadata identify it. 409 if it has changed since, or if its name belongs to another
  // object by now: so two writers, or an outdated one, do not overwrite each other unnoticed.
  void set_gpu_quota_status(const ObjectMeta& quota, const GpuQuota::Status& status,
                            std::function<void(Result<void>)> done);

  void create_event(const EventObject& event, std::function<void(Result<void>)> done);
  // Updates series.count and series.lastObservedTime of an event created before.
  void patch_event_series(const EventObject& event, std::function<void(Result<void>)> done);

  // Leases, sent once each, because leader election decides itself when to try again. `deadline` is
  // also sent to the server. Create and update return the new lease; update gives 409 if the lease
  // is not at the resourceVersion of `lease`.
  void get_lease(const std::string& namespace_, const std::string& name,
                 std::chrono::milliseconds deadline, std::function<void(Result<Lease>)> done);
  void create_lease(const Lease& lease, std::chrono::milliseconds deadline,
                    std::function<void(Result<Lease>)> done);
  void update_lease(const Lease& lease, std::chrono::milliseconds deadline,
                    std::function<void(Result<Lease>)> done);

  // A ConfigMap, sent once each. Create and update return the new object; update gives 409 if it is
  // not at the resourceVersion of `map`.
  void get_config_map(const std::string& namespace_, const std::string& name,
                      std::function<void(Result<ConfigMap>)> done);
  void create_config_map(const ConfigMap& map, std::function<void(Result<ConfigMap>)> done);
  void update_config_map(const ConfigMap& map, std::function<void(Result<ConfigMap>)> done);

  // Which account a token belongs to, and whether an account has a right; sent once each.
  void review_token(const std::string& token, std::chrono::milliseconds deadline,
                    std::function<void(Result<TokenStatus>)> done);
  void review_access(const UserInfo& user, const Access& access, std::chrono::milliseconds deadline,
                     std::function<void(Result<bool>)> done);

  // GET /version: "v1.36.3".
  void server_version(std::function<void(Result<std::string>)> done);

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // shared with the requests under way
};

}  // namespace k8s
