#include "scheduler/kubectl-gpu/ui/ask_scheduler.h"

#include "k8s-client/http/event_loop.h"
#include "k8s-client/request_target.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"
#include "scheduler/kubectl-gpu/ui/way.h"

#include <memory>
#include <optional>
#include <utility>

namespace sched::kubectl {

std::string answer_target(Command command, const std::string& namespace_, const std::string& pod) {
  const auto path = [command] {
    if (command == Command::kOverview) return "/answers/overview";
    if (command == Command::kQueue) return "/answers/queue";
    return command == Command::kQuota ? "/answers/quota" : "/answers/why";
  };
  k8s::RequestTarget target(path());
  if (!namespace_.empty()) target.query("namespace", namespace_);
  if (command == Command::kWhy) target.query("pod", pod);
  return target.text();
}

k8s::Result<std::string> ask_scheduler(const Options& options,
                                       std::optional<std::chrono::milliseconds> patience) {
  // These two first, so that they are destroyed last: `way` ends a request that is still open when
  // the patience is over, and a program for credentials may run on the loop.
  std::optional<k8s::Result<std::string>> answer;
  const auto loop = k8s::make_event_loop();
  WayToScheduler way(*loop);
  auto fetch = way.open(options);
  if (!fetch) return tl::unexpected<k8s::Error>(std::move(fetch.error()));
  std::string namespace_ = options.namespace_;
  if (options.command == Command::kOverview) {
    if (options.all_namespaces) namespace_.clear();
  } else {
    if (namespace_.empty()) namespace_ = way.default_namespace();
    if (namespace_.empty()) namespace_ = "default";
  }
  const std::string target = answer_target(options.command, namespace_, options.pod);
  std::unique_ptr<k8s::Timer> limit;
  if (patience) limit = loop->after(*patience, [&] { loop->stop(); });
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
  if (answer) return *std::move(answer);
  return tl::unexpected(
      k8s::make_error(k8s::ErrorKind::kTimeout, "the scheduler has not answered in time"));
}

}  // namespace sched::kubectl
