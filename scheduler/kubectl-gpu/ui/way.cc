#include "scheduler/kubectl-gpu/ui/way.h"

#include "k8s-client/auth/file_credentials.h"
#include "k8s-client/auth/server_url.h"
#include "k8s-client/http/asio_transport.h"

#include <chrono>
#include <utility>

namespace sched::kubectl {

namespace {

std::unique_ptr<k8s::Credentials> credentials(const k8s::auth::CredentialSources& sources) {
  return std::make_unique<k8s::auth::FileCredentials>(sources, std::chrono::steady_clock::now);
}

}  // namespace

// The token of the kubeconfig's user, with TLS settings for a server that is no API server.
class WayToScheduler::ForServer final : public k8s::Credentials {
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

WayToScheduler::WayToScheduler(k8s::EventLoop& loop) : loop_(loop) {}
WayToScheduler::~WayToScheduler() = default;

k8s::Result<Fetch> WayToScheduler::open(const Options& options) {
  auto access = k8s::find_cluster(options.kubeconfig, options.context);
  if (!access) return tl::unexpected<k8s::Error>(std::move(access.error()));
  access_ = *std::move(access);
  access_.user_agent = options.user_agent;
  if (!options.scheduler.token_file.empty()) {
    k8s::auth::CredentialSources sources;
    sources.token_file = options.scheduler.token_file;
    own_token_ = credentials(sources);
  }
  return options.scheduler.server.empty() ? by_lease(options) : by_url(options.scheduler);
}

k8s::Credentials& WayToScheduler::token() {
  return own_token_ ? *own_token_ : *access_.credentials;
}

k8s::Result<Fetch> WayToScheduler::by_lease(const Options& options) {
  transport_ = k8s::make_asio_transport(loop_, access_.endpoint, *access_.credentials,
                                        {.user_agent = access_.user_agent});
  leader_.emplace(loop_, *transport_, token(), options.scheduler.leader);
  return [this](const std::string& target, auto done) { leader_->fetch(target, std::move(done)); };
}

k8s::Result<Fetch> WayToScheduler::by_url(const SchedulerOptions& options) {
  auto endpoint = k8s::auth::parse_server_url(options.server);
  if (!endpoint) return tl::unexpected(std::move(endpoint.error()));
  if (!endpoint->tls) return k8s::config_error("--server: a token goes to https:// alone");
  k8s::auth::CredentialSources sources;
  sources.ca.file = options.server_ca;
  sources.insecure_skip_verify = options.insecure_skip_verify;
  server_ = credentials(sources);
  for_server_ = std::make_unique<ForServer>(token(), *server_);
  transport_ =
      k8s::make_asio_transport(loop_, *endpoint, *for_server_, {.user_agent = access_.user_agent});
  return fetch_from(*transport_);
}

}  // namespace sched::kubectl
