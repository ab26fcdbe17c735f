#include "k8s-client/client.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "k8s-client/api/protobuf/documents.h"
#include "k8s-client/call_bodies.h"
#include "k8s-client/request_target.h"
#include "k8s-client/retry.h"
#include "k8s-client/status_error.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

namespace k8s {
namespace {

using Clock = EventLoop::Clock;

constexpr const char* kStrategicMergePatch = "application/strategic-merge-patch+json";
// For objects without lists to merge; custom resources support no other type.
constexpr const char* kMergePatch = "application/merge-patch+json";

// All objects of a kind in a namespace.
template <typename Object>
RequestTarget objects_in(const std::string& namespace_) {
  RequestTarget target(Object::kKind.api_path() + "/namespaces");
  return target.segment(namespace_).segment(Object::kKind.plural);
}

template <typename Object>
RequestTarget target_of(const std::string& namespace_, const std::string& name) {
  return objects_in<Object>(namespace_).segment(name);
}

RequestTarget events_target(const std::string& namespace_) {
  return RequestTarget("/apis/events.k8s.io/v1/namespaces").segment(namespace_).segment("events");
}

// For calls with an answer that is read only if it is an error: a Status is accepted in both
// formats.
const Headers& accepting_protobuf() {
  static const Headers headers = {{"Accept", std::string(protobuf::kAccept)}};
  return headers;
}

// A duration in the server's notation: "30s", or "1500ms".
std::string duration_text(std::chrono::milliseconds duration) {
  const auto millis = duration.count();
  return millis % 1000 == 0 ? fmt::format("{}s", millis / 1000) : fmt::format("{}ms", millis);
}

// One call: its request, kept for repetition, and the handling of its answer.
struct ApiCall {
  Request request;
  std::string doing;  // "pods \"ml/train-0\": bind to \"gpu-7\"": the beginning of the error's text
  std::function<void(Result<Response>)> done;
  std::optional<RetryPolicy> retry;  // none: sent once
  Clock::time_point sent_at{};
  std::unique_ptr<Timer> timer;  // between two attempts
};

// For calls that need no body of the answer.
std::function<void(Result<Response>)> ignoring_body(std::function<void(Result<void>)> done) {
  return [done = std::move(done)](Result<Response> answer) {
    if (!answer) return done(tl::unexpected(std::move(answer.error())));
    done({});
  };
}

}  // namespace

struct Client::Parts : std::enable_shared_from_this<Parts> {
  Parts(Transport& transport_, EventLoop& loop_, WallClock wall_clock_)
      : transport(transport_), loop(loop_), wall_clock(std::move(wall_clock_)) {
    if (!wall_clock) {
      wall_clock = [] {
        return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
      };
    }
  }

  void call_once(Request request, std::string doing, std::function<void(Result<Response>)> done) {
    auto call = std::make_shared<ApiCall>();
    call->request = std::move(request);
    call->doing = std::move(doing);
    call->done = std::move(done);
    send(call);
  }

  void call_idempotent(Request request, std::string doing,
                       std::function<void(Result<Response>)> done) {
    auto call = std::make_shared<ApiCall>();
    call->request = std::move(request);
    call->request.repeatable = true;
    call->doing = std::move(doing);
    call->done = std::move(done);
    call->retry.emplace(++calls);
    send(call);
  }

  void patch_pod_status(const ObjectMeta& pod, std::string patch, const std::string& doing,
                        BindLimits limits, std::function<void(Result<void>)> done) {
    RequestTarget target = target_of<Pod>(pod.namespace_, pod.name);
    target.segment("status").query("timeout", duration_text(limits.deadline));
    call_once({.method = Method::kPatch,
               .target = target.text(),
               .headers = accepting_protobuf(),
               .body = std::move(patch),
               .content_type = kStrategicMergePatch,
               .deadline = limits.deadline,
               .send_by = limits.send_by},
              fmt::format("pods \"{}/{}\": {}", pod.namespace_, pod.name, doing),
              ignoring_body(std::move(done)));
  }

  void delete_pod(const ObjectMeta& pod, bool dry_run, BindLimits limits,
                  std::function<void(Result<void>)> done) {
    RequestTarget target = target_of<Pod>(pod.namespace_, pod.name);
    target.query("timeout", duration_text(limits.deadline));
    call_once({.method = Method::kDelete,
               .target = target.text(),
               .headers = accepting_protobuf(),
               .body = delete_options(pod.uid, dry_run),
               .deadline = limits.deadline,
               .send_by = limits.send_by},
              fmt::format("pods \"{}/{}\": {}", pod.namespace_, pod.name,
                          dry_run ? "try to delete" : "delete"),
              ignoring_body(std::move(done)));
  }

  // The answer is the new object.
  template <typename Object>
  void call_for(Request request, const std::string& doing,
                std::function<void(Result<Object>)> done) {
    call_once(std::move(request), doing,
              [this, doing, done = std::move(done)](Result<Response> answer) {
                if (!answer) return done(tl::unexpected(std::move(answer.error())));
                auto object = decoder.object<Object>(answer->body);
                if (!object) {
                  // The server has acted; the resulting object is not known.
                  object.error().may_have_acted = true;
                  return done(tl::unexpected(with_context(std::move(object.error()), doing)));
                }
                done(std::move(object));
              });
  }

  // `read` finds the result in the answer's body.
  template <typename Verdict>
  void call_review(Request request, const std::string& doing,
                   Result<Verdict> (*read)(const std::string& body),
                   std::function<void(Result<Verdict>)> done) {
    call_once(std::move(request), doing,
              [doing, read, done = std::move(done)](Result<Response> answer) {
                if (!answer) return done(tl::unexpected(std::move(answer.error())));
                auto verdict = read(answer->body);
                if (!verdict) {
                  return done(tl::unexpected(with_context(std::move(verdict.error()), doing)));
                }
                done(std::move(verdict));
              });
  }

  void send(const std::shared_ptr<ApiCall>& call) {
    call->sent_at = loop.now();
    // The last attempt needs its request no longer.
    Request request = call->retry ? call->request : std::move(call->request);
    call->request.method = request.method;
    transport.send(std::move(request),
                   [weak = this->weak_from_this(), call](Result<Response> answer) {
                     if (const auto parts = weak.lock()) parts->answered(call, std::move(answer));
                   });
  }

  void answered(const std::shared_ptr<ApiCall>& call, Result<Response> answer) {
    if (observer) {
      observer(to_string(call->request.method), answer ? answer->status : 0,
               loop.now() - call->sent_at);
    }
    if (answer && is_success(*answer)) return call->done(std::move(answer));
    Error error = answer ? status_error(*answer, decoder) : std::move(answer.error());
    if (call->retry) {
      if (const auto delay = call->retry->after(error, loop.now())) {
        return send_later(call, *delay);
      }
    }
    call->done(tl::unexpected(with_context(std::move(error), call->doing)));
  }

  void send_later(const std::shared_ptr<ApiCall>& call, std::chrono::milliseconds delay) {
    // The timer belongs to the call, so its task must not own it.
    waiting.insert(call);
    call->timer = loop.after(delay, [this, weak = std::weak_ptr(call)] {
      const auto due = weak.lock();
      if (!due) return;
      waiting.erase(due);
      send(due);
    });
  }

  Transport& transport;
  EventLoop& loop;
  WallClock wall_clock;
  RequestObserver observer;
  Decoder decoder;
  std::uint64_t calls = 0;                     // seeds the jitter of each call
  std::set<std::shared_ptr<ApiCall>> waiting;  // for their next attempt; has their timers
};

Client::Client(Transport& transport, EventLoop& loop, WallClock wall_clock)
    : parts_(std::make_shared<Parts>(transport, loop, std::move(wall_clock))) {}

Client::~Client() = default;

void Client::set_observer(RequestObserver observer) { parts_->observer = std::move(observer); }

void Client::bind(const Binding& binding, BindLimits limits,
                  std::function<void(Result<void>)> done) {
  RequestTarget target = target_of<Pod>(binding.namespace_, binding.pod);
  target.segment("binding").query("timeout", duration_text(limits.deadline));
  parts_->call_once(
      {.method = Method::kPost,
       .target = target.text(),
       .headers = accepting_protobuf(),
       .body = binding_body(binding),
       .content_type = std::string(protobuf::kContentType),
       .deadline = limits.deadline,
       .send_by = limits.send_by},
      fmt::format("pods \"{}/{}\": bind to \"{}\"", binding.namespace_, binding.pod, binding.node),
      ignoring_body(std::move(done)));
}

void Client::select_node(const ObjectMeta& claim, const std::string& node, BindLimits limits,
                         std::function<void(Result<void>)> done) {
  RequestTarget target = target_of<PersistentVolumeClaim>(claim.namespace_, claim.name);
  target.query("timeout", duration_text(limits.deadline));
  parts_->call_once({.method = Method::kPatch,
                     .target = target.text(),
                     .headers = accepting_protobuf(),
                     .body = selected_node_patch(claim, node),
                     .content_type = kMergePatch,
                     .deadline = limits.deadline,
                     .send_by = limits.send_by},
                    fmt::format("persistentvolumeclaims \"{}/{}\": select node \"{}\"",
                                claim.namespace_, claim.name, node),
                    ignoring_body(std::move(done)));
}

void Client::bind_volume(const PersistentVolume& volume, const ObjectMeta& claim, BindLimits limits,
                         std::function<void(Result<void>)> done) {
  RequestTarget target(PersistentVolume::kKind.path());
  target.segment(volume.metadata.name).query("timeout", duration_text(limits.deadline));
  parts_->call_once({.method = Method::kPatch,
                     .target = target.text(),
                     .headers = accepting_protobuf(),
                     .body = volume_claim_patch(volume, claim),
                     .content_type = kMergePatch,
                     .deadline = limits.deadline,
                     .send_by = limits.send_by},
                    fmt::format("persistentvolumes \"{}\": bind to claim \"{}/{}\"",
                                volume.metadata.name, claim.namespace_, claim.name),
                    ignoring_body(std::move(done)));
}

void Client::nominate(const ObjectMeta& pod, const std::string& node, BindLimits limits,
                      std::function<void(Result<void>)> done) {
  const std::string doing =
      node.empty() ? "remove the nominated node" : fmt::format("nominate for node \"{}\"", node);
  parts_->patch_pod_status(pod, nomination_patch(pod, node), doing, limits, std::move(done));
}

void Client::set_disruption_target(const ObjectMeta& pod, const std::string& message,
                                   BindLimits limits, std::function<void(Result<void>)> done) {
  parts_->patch_pod_status(pod, disruption_target_patch(pod, message, parts_->wall_clock()),
                           "set condition DisruptionTarget=True", limits, std::move(done));
}

void Client::delete_pod(const ObjectMeta& pod, BindLimits limits,
                        std::function<void(Result<void>)> done) {
  parts_->delete_pod(pod, false, limits, std::move(done));
}

void Client::try_delete_pod(const ObjectMeta& pod, BindLimits limits,
                            std::function<void(Result<void>)> done) {
  parts_->delete_pod(pod, true, limits, std::move(done));
}

void Client::get_pod(const std::string& namespace_, const std::string& name,
                     std::function<void(Result<Pod>)> done, std::chrono::milliseconds deadline) {
  std::string doing = fmt::format("pods \"{}/{}\": get", namespace_, name);
  parts_->call_idempotent(
      {.target = target_of<Pod>(namespace_, name).text(), .deadline = deadline}, doing,
      [parts = parts_.get(), doing, done = std::move(done)](Result<Response> answer) {
        if (!answer) return done(tl::unexpected(std::move(answer.error())));
        auto pod = parts->decoder.object<Pod>(answer->body);
        if (!pod) return done(tl::unexpected(with_context(std::move(pod.error()), doing)));
        done(std::move(pod));
      });
}

void Client::set_pod_scheduled(const Pod& pod, const PodScheduledCondition& condition,
                               std::function<void(Result<void>)> done) {
  const ObjectMeta& metadata = pod.metadata;
  parts_->call_idempotent(
      {.method = Method::kPatch,
       .target = target_of<Pod>(metadata.namespace_, metadata.name).segment("status").text(),
       .headers = accepting_protobuf(),
       .body = pod_scheduled_patch(pod, condition, parts_->wall_clock()),
       .content_type = kStrategicMergePatch},
      fmt::format("pods \"{}/{}\": set condition PodScheduled={}", metadata.namespace_,
                  metadata.name, condition.status),
      ignoring_body(std::move(done)));
}

void Client::set_gpu_quota_status(const ObjectMeta& quota, const GpuQuota::Status& status,
                                  std::function<void(Result<void>)> done) {
  RequestTarget target(GpuQuota::kKind.path());
  parts_->call_idempotent({.method = Method::kPatch,
                           .target = target.segment(quota.name).segment("status").text(),
                           .body = gpu_quota_status_patch(quota, status),
                           .content_type = kMergePatch},
                          fmt::format("gpuquotas \"{}\": set status", quota.name),
                          ignoring_body(std::move(done)));
}

void Client::create_event(const EventObject& event, std::function<void(Result<void>)> done) {
  parts_->call_once({.method = Method::kPost,
                     .target = events_target(event.namespace_).text(),
                     .headers = accepting_protobuf(),
                     .body = event_body(event),
                     .content_type = std::string(protobuf::kContentType)},
                    fmt::format("events \"{}/{}\": create", event.namespace_, event.name),
                    ignoring_body(std::move(done)));
}

void Client::patch_event_series(const EventObject& event, std::function<void(Result<void>)> done) {
  parts_->call_once({.method = Method::kPatch,
                     .target = events_target(event.namespace_).segment(event.name).text(),
                     .headers = accepting_protobuf(),
                     .body = event_series_patch(event),
                     .content_type = kStrategicMergePatch,
                     .repeatable = true},
                    fmt::format("events \"{}/{}\": count {} occurrences", event.namespace_,
                                event.name, event.series_count),
                    ignoring_body(std::move(done)));
}

void Client::get_lease(const std::string& namespace_, const std::string& name,
                       std::chrono::milliseconds deadline,
                       std::function<void(Result<Lease>)> done) {
  RequestTarget target = target_of<Lease>(namespace_, name);
  parts_->call_for<Lease>({.target = target.query("timeout", duration_text(deadline)).text(),
                           .deadline = deadline,
                           .repeatable = true},
                          fmt::format("leases \"{}/{}\": get", namespace_, name), std::move(done));
}

void Client::create_lease(const Lease& lease, std::chrono::milliseconds deadline,
                          std::function<void(Result<Lease>)> done) {
  RequestTarget target = objects_in<Lease>(lease.metadata.namespace_);
  parts_->call_for<Lease>(
      {.method = Method::kPost,
       .target = target.query("timeout", duration_text(deadline)).text(),
       .body = encode(lease),
       .deadline = deadline},
      fmt::format("leases \"{}/{}\": create", lease.metadata.namespace_, lease.metadata.name),
      std::move(done));
}

void Client::update_lease(const Lease& lease, std::chrono::milliseconds deadline,
                          std::function<void(Result<Lease>)> done) {
  RequestTarget target = target_of<Lease>(lease.metadata.namespace_, lease.metadata.name);
  // If it were sent twice, the version would make the server refuse the second one.
  parts_->call_for<Lease>(
      {.method = Method::kPut,
       .target = target.query("timeout", duration_text(deadline)).text(),
       .body = encode(lease),
       .deadline = deadline,
       .repeatable = true},
      fmt::format("leases \"{}/{}\": update", lease.metadata.namespace_, lease.metadata.name),
      std::move(done));
}

void Client::get_config_map(const std::string& namespace_, const std::string& name,
                            std::function<void(Result<ConfigMap>)> done) {
  RequestTarget target = target_of<ConfigMap>(namespace_, name);
  parts_->call_for<ConfigMap>({.target = target.text(), .repeatable = true},
                              fmt::format("configmaps \"{}/{}\": get", namespace_, name),
                              std::move(done));
}

void Client::create_config_map(const ConfigMap& map, std::function<void(Result<ConfigMap>)> done) {
  RequestTarget target = objects_in<ConfigMap>(map.metadata.namespace_);
  parts_->call_for<ConfigMap>(
      {.method = Method::kPost, .target = target.text(), .body = encode(map)},
      fmt::format("configmaps \"{}/{}\": create", map.metadata.namespace_, map.metadata.name),
      std::move(done));
}

void Client::update_config_map(const ConfigMap& map, std::function<void(Result<ConfigMap>)> done) {
  RequestTarget target = target_of<ConfigMap>(map.metadata.namespace_, map.metadata.name);
  parts_->call_for<ConfigMap>(
      {.method = Method::kPut, .target = target.text(), .body = encode(map), .repeatable = true},
      fmt::format("configmaps \"{}/{}\": update", map.metadata.namespace_, map.metadata.name),
      std::move(done));
}

void Client::review_token(const std::string& token, std::chrono::milliseconds deadline,
                          std::function<void(Result<TokenStatus>)> done) {
  parts_->call_review({.method = Method::kPost,
                       .target = "/apis/authentication.k8s.io/v1/tokenreviews",
                       .body = token_review(token),
                       .deadline = deadline,
                       .repeatable = true},
                      "token: review", token_status_of, std::move(done));
}

void Client::review_access(const UserInfo& user, const Access& access,
                           std::chrono::milliseconds deadline,
                           std::function<void(Result<bool>)> done) {
  parts_->call_review({.method = Method::kPost,
                       .target = "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                       .body = subject_access_review(user, access),
                       .deadline = deadline,
                       .repeatable = true},
                      fmt::format("\"{}\" may {}: review", user.username, to_string(access)),
                      is_allowed_of, std::move(done));
}

void Client::server_version(std::function<void(Result<std::string>)> done) {
  parts_->call_idempotent({.target = "/version"}, "server version: get",
                          [done = std::move(done)](Result<Response> answer) {
                            if (!answer) return done(tl::unexpected(std::move(answer.error())));
                            auto version = git_version_of(answer->body);
                            if (!version) {
                              return done(tl::unexpected(
                                  with_context(std::move(version.error()), "server version: get")));
                            }
                            done(std::move(version));
                          });
}

}  // namespace k8s
