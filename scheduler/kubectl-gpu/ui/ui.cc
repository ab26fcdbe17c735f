#include "scheduler/kubectl-gpu/ui/ui.h"

#include "k8s-client/http/event_loop.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"
#include "scheduler/kubectl-gpu/ui/way.h"
#include "scheduler/server/http_server.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace sched::kubectl {

namespace {

class Ui {
 public:
  Ui(const Options& options, const Terminal& terminal) : options_(options), terminal_(terminal) {}

  int run() {
    if (!options_.from.empty()) {
      return fail(kBadUsage, "ui: the page is of a scheduler that runs; --from is of files");
    }
    auto fetch = way_.open(options_);
    if (!fetch) return fail(kBadUsage, fetch.error().message);
    proxy_.emplace(make_secret(), *fetch);
    auto server = server::HttpServer::listen(
        *loop_, {.address = "127.0.0.1:" + std::to_string(options_.ui_port)},
        [this](const server::Request& request, server::HttpServer::Answer answer) {
          proxy_->get(request, std::move(answer));
        },
        {});
    if (!server) return fail(kUnreadable, server.error().message);
    proxy_->listens_at((*server)->port());
    loop_->post([this, fetch = *fetch] { try_it(fetch); });
    loop_->run();
    return kUnreadable;
  }

 private:
  // Reports what is missing before the user opens a browser.
  void try_it(const Fetch& fetch) {
    fetch("/ui/state", [this](const k8s::Result<k8s::Response>& response) {
      if (const std::string refusal = refusal_of(response, kUiRole); !refusal.empty()) {
        static_cast<void>(fail(kUnreadable, refusal));
        return loop_->stop();
      }
      terminal_.out << "The page: " << proxy_->url() << "\nIt is open as long as this runs. "
                    << "Whoever knows the URL reads it as you: it is for this machine alone.\n"
                    << std::flush;
    });
  }

  int fail(int code, const std::string& message) {
    TextOut(terminal_.err) << "kubectl gpu: " << message << '\n';
    return code;
  }

  const Options& options_;
  const Terminal& terminal_;
  // First, so that it ends last: a program for credentials may run on it.
  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_event_loop();
  WayToScheduler way_{*loop_};
  std::optional<UiProxy> proxy_;
};

}  // namespace

int run_ui(const Options& options, const Terminal& terminal) { return Ui(options, terminal).run(); }

}  // namespace sched::kubectl
