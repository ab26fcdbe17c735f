#include "scheduler/kubectl-gpu/ui/ask_why.h"

#include "k8s-client/http/event_loop.h"
#include "k8s-client/request_target.h"
#include "scheduler/answers/read_json.h"
#include "scheduler/kubectl-gpu/ui/way.h"

#include <optional>
#include <utility>

namespace sched::kubectl {

std::string why_target(const std::string& namespace_, const std::string& pod) {
  k8s::RequestTarget target("/answers/why");
  target.query("namespace", namespace_).query("pod", pod);
  return target.text();
}

k8s::Result<WhyAnswer> why_answer_of(const k8s::Result<k8s::Response>& response) {
  if (const std::string refusal = refusal_of(response, kAnswersRole); !refusal.empty()) {
    return tl::unexpected(k8s::make_error(k8s::ErrorKind::kDecode, refusal));
  }
  auto why = answers::read_why(response->body);
  if (!why) return tl::unexpected(k8s::make_error(k8s::ErrorKind::kDecode, why.error()));
  return WhyAnswer{.json = response->body, .why = *std::move(why)};
}

k8s::Result<WhyAnswer> ask_scheduler_why(const Options& options, const std::string& pod) {
  // First, so that it ends last: a program for credentials may run on it.
  const auto loop = k8s::make_event_loop();
  WayToScheduler way(*loop);
  auto fetch = way.open(options);
  if (!fetch) return tl::unexpected<k8s::Error>(std::move(fetch.error()));
  std::string namespace_ = options.namespace_;
  if (namespace_.empty()) namespace_ = way.default_namespace();
  if (namespace_.empty()) namespace_ = "default";
  std::optional<k8s::Result<WhyAnswer>> answer;
  loop->post([&] {
    (*fetch)(why_target(namespace_, pod), [&](const k8s::Result<k8s::Response>& response) {
      answer = why_answer_of(response);
      loop->stop();
    });
  });
  loop->run();
  return *std::move(answer);
}

}  // namespace sched::kubectl
