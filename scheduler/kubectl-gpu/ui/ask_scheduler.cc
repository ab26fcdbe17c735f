#include "scheduler/kubectl-gpu/ui/ask_scheduler.h"

#include "k8s-client/http/event_loop.h"
#include "k8s-client/request_target.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"
#include "scheduler/kubectl-gpu/ui/way.h"

#include <optional>
#include <utility>

namespace sched::kubectl {

std::string answer_target(Command command, const std::string& namespace_, const std::string& pod) {
  const auto path = [command] {
    if (command == Command::kQueue) return "/answers/queue";
    return command == Command::kQuota ? "/answers/quota" : "/answers/why";
  };
  k8s::RequestTarget target(path());
  target.query("namespace", namespace_);
  if (command == Command::kWhy) target.query("pod", pod);
  return target.text();
}

k8s::Result<std::string> ask_scheduler(const Options& options, const std::string& pod) {
  // First, so that it ends last: a program for credentials may run on it.
  const auto loop = k8s::make_event_loop();
  WayToScheduler way(*loop);
  auto fetch = way.open(options);
  if (!fetch) return tl::unexpected<k8s::Error>(std::move(fetch.error()));
  std::string namespace_ = options.namespace_;
  if (namespace_.empty()) namespace_ = way.default_namespace();
  if (namespace_.empty()) namespace_ = "default";
  const std::string target = answer_target(options.command, namespace_, pod);
  std::optional<k8s::Result<std::string>> answer;
  loop->post([&] {
    (*fetch)(target, [&](k8s::Result<k8s::Response> response) {
      const std::string refusal = refusal_of(response, kAnswersRole);
      if (refusal.empty()) {
        answer = std::move(response->body);
      } else {
        answer = tl::unexpected(k8s::make_error(k8s::ErrorKind::kDecode, refusal));
      }
      loop->stop();
    });
  });
  loop->run();
  return *std::move(answer);
}

}  // namespace sched::kubectl
