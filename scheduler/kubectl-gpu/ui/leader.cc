#include "scheduler/kubectl-gpu/ui/leader.h"

#include "k8s-client/request_target.h"
#include "scheduler/server/http_server.h"

#include <chrono>

namespace sched::kubectl {

namespace {

constexpr std::chrono::seconds kDeadline{10};

k8s::Request get(std::string target) {
  k8s::Request request;
  request.target = std::move(target);
  request.headers = {{"Accept", "*/*"}};
  request.deadline = kDeadline;
  request.repeatable = true;
  return request;
}

k8s::Error no_token() {
  return {.kind = k8s::ErrorKind::kConfig,
          .message =
              "the kubeconfig has no token, and the scheduler knows no client certificates; "
              "give one with --token-file, of `kubectl create token ACCOUNT`"};
}

}  // namespace

std::string pod_of_holder(const std::string& identity) {
  return identity.substr(0, identity.rfind('_'));
}

Fetch fetch_from(k8s::Transport& transport) {
  return [&transport](const std::string& target, auto done) {
    transport.send(get(target), std::move(done));
  };
}

LeaderByLease::LeaderByLease(k8s::EventLoop& loop, k8s::Transport& api_server,
                             k8s::Credentials& token, LeaderAddress address)
    : loop_(loop),
      api_server_(api_server),
      client_(api_server, loop),
      token_(token),
      address_(std::move(address)) {}

void LeaderByLease::fetch(const std::string& target, Done done) {
  if (!pod_.empty()) return send(target, std::move(done));
  waiting_.emplace_back(target, std::move(done));
  find_leader();
}

void LeaderByLease::find_leader() {
  if (std::exchange(is_looking_, true)) return;
  client_.get_lease(address_.where_lease_is(), address_.lease, kDeadline,
                    [this](k8s::Result<k8s::Lease> lease) { found(std::move(lease)); });
}

void LeaderByLease::found(k8s::Result<k8s::Lease> lease) {
  is_looking_ = false;
  if (lease) pod_ = pod_of_holder(lease->spec.holder_identity);
  for (auto& [target, done] : std::exchange(waiting_, {})) {
    if (!lease) {
      k8s::Error error = k8s::with_context(lease.error(), "looking for the scheduler that leads");
      if (error.is_status(403)) {
        error.message +=
            address_.lease_namespace.empty()
                ? "; the Role " + address_.role + " in the scheduler's namespace lets you"
                : "; get of that lease lets you";
      }
      done(tl::unexpected<k8s::Error>(std::move(error)));
    } else if (pod_.empty()) {
      done(k8s::config_error("no scheduler leads now: nobody holds the lease " +
                             address_.where_lease_is() + "/" + address_.lease));
    } else {
      send(target, std::move(done));
    }
  }
}

void LeaderByLease::send(const std::string& target, Done done, bool again) {
  // The token may come from a program. Then this is called again when the program has ended.
  if (!token_.prepare(loop_, [this, target, done, again] { send(target, done, again); })) return;
  const auto token = token_.bearer_token();
  if (!token) return done(tl::unexpected<k8s::Error>(token.error()));
  if (!*token) return done(tl::unexpected<k8s::Error>(no_token()));
  k8s::RequestTarget proxy("/api/v1/namespaces");
  proxy.segment(address_.namespace_)
      .segment("pods")
      .segment("https:" + pod_ + ":" + std::to_string(address_.port))
      .segment("proxy");
  k8s::Request request = get(proxy.text() + target);
  request.headers.emplace_back(server::kForwardedAuthorization, "Bearer " + **token);
  api_server_.send(std::move(request), [this, target, again, pod = pod_, done = std::move(done)](
                                           k8s::Result<k8s::Response> response) {
    if (response && response->status == 401) token_.rejected();
    if (!response || response->status == 404 || response->status >= 500) pod_.clear();
    if (again && response && response->status == 503) {
      return ask_another(pod, target, *std::move(response), done);
    }
    done(std::move(response));
  });
}

void LeaderByLease::ask_another(const std::string& pod, const std::string& target,
                                k8s::Response said, const Done& done) {
  client_.get_lease(
      address_.where_lease_is(), address_.lease, kDeadline,
      [this, pod, target, said = std::move(said), done](const k8s::Result<k8s::Lease>& lease) {
        const std::string leader =
            lease ? pod_of_holder(lease->spec.holder_identity) : std::string();
        if (leader.empty() || leader == pod) return done(said);
        pod_ = leader;
        send(target, done, false);
      });
}

}  // namespace sched::kubectl
