#include "scheduler/kubectl-gpu/ui/ui.h"

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/auth/file_credentials.h"
#include "k8s-client/auth/server_url.h"
#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/kubectl-gpu/ui/leader.h"
#include "scheduler/kubectl-gpu/ui/proxy.h"
#include "scheduler/server/http_server.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace sched::kubectl {

namespace {

// Of the kubeconfig's user, but with the authority of a server that is no API server.
class ForServer final : public k8s::Credentials {
 public:
  ForServer(k8s::Credentials& token, k8s::Credentials& server) : token_(token), server_(server) {}
  [[nodiscard]] bool prepare(k8s::EventLoop& loop, std::function<void()> ready) override {
    return token_.prepare(loop, std::move(ready));
  }
  [[nodiscard]] k8s::Result<std::optional<std::string>> bearer_token() override {
    return token_.bearer_token();
  }
  [[nodiscard]] k8s::Result<k8s::TlsMaterial> tls() override { return server_.tls(); }
  void rejected() override { token_.rejected(); }

 private:
  k8s::Credentials& token_;
  k8s::Credentials& server_;
};

class Ui {
 public:
  Ui(const Options& options, const Terminal& terminal) : options_(options), terminal_(terminal) {}

  int run() {
    if (!options_.from.empty()) {
      return fail(kBadUsage, "ui: the page is of a scheduler that runs; --from is of files");
    }
    auto access = k8s::find_cluster(options_.kubeconfig, options_.context);
    if (!access) return fail(kBadUsage, access.error().message);
    access_ = *std::move(access);
    if (!options_.ui.token_file.empty()) {
      k8s::auth::CredentialSources sources;
      sources.token_file = options_.ui.token_file;
      own_token_ = credentials(sources);
    }
    auto fetch = options_.ui.server.empty() ? by_lease() : by_url();
    if (!fetch) return fail(kBadUsage, fetch.error().message);
    proxy_.emplace(make_secret(), *fetch);
    auto server = server::HttpServer::listen(
        *loop_, {.address = "127.0.0.1:" + std::to_string(options_.ui.port)},
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
  static std::unique_ptr<k8s::Credentials> credentials(
      const k8s::auth::CredentialSources& sources) {
    return std::make_unique<k8s::auth::FileCredentials>(sources, std::chrono::steady_clock::now);
  }

  k8s::Credentials& token() { return own_token_ ? *own_token_ : *access_.credentials; }

  k8s::Result<Fetch> by_lease() {
    transport_ = k8s::make_asio_transport(*loop_, access_.endpoint, *access_.credentials);
    leader_.emplace(*loop_, *transport_, token(), options_.ui.leader);
    return
        [this](const std::string& target, auto done) { leader_->fetch(target, std::move(done)); };
  }

  k8s::Result<Fetch> by_url() {
    auto endpoint = k8s::auth::parse_server_url(options_.ui.server);
    if (!endpoint) return tl::unexpected(std::move(endpoint.error()));
    if (!endpoint->tls) return k8s::config_error("--server: a token goes to https:// alone");
    k8s::auth::CredentialSources sources;
    sources.ca.file = options_.ui.server_ca;
    sources.insecure_skip_verify = options_.ui.insecure_skip_verify;
    server_ = credentials(sources);
    for_server_.emplace(token(), *server_);
    transport_ = k8s::make_asio_transport(*loop_, *endpoint, *for_server_);
    return fetch_from(*transport_);
  }

  // What is missing is said before anybody opens a browser.
  void try_it(const Fetch& fetch) {
    fetch("/ui/state", [this](const k8s::Result<k8s::Response>& response) {
      if (const std::string refusal = refusal_of(response); !refusal.empty()) {
        static_cast<void>(fail(kUnreadable, refusal));
        return loop_->stop();
      }
      terminal_.out << "The page: " << proxy_->url() << "\nIt is open as long as this runs. "
                    << "Whoever knows the URL reads it as you: it is for this machine alone.\n"
                    << std::flush;
    });
  }

  int fail(int code, const std::string& message) {
    terminal_.err << "kubectl gpu: " << message << '\n';
    return code;
  }

  const Options& options_;
  const Terminal& terminal_;
  // First, so that it ends last: a program for credentials may run on it.
  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_event_loop();
  k8s::ClusterAccess access_;
  std::unique_ptr<k8s::Credentials> own_token_;
  std::unique_ptr<k8s::Credentials> server_;
  std::optional<ForServer> for_server_;
  std::unique_ptr<k8s::Transport> transport_;
  std::optional<LeaderByLease> leader_;
  std::optional<UiProxy> proxy_;
};

}  // namespace

int run_ui(const Options& options, const Terminal& terminal) { return Ui(options, terminal).run(); }

}  // namespace sched::kubectl
