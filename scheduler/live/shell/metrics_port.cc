#include "scheduler/live/shell/metrics_port.h"

#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/live/log.h"
#include "scheduler/live/problem_log.h"
#include "scheduler/server/delegated_access.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/http_server.h"

#include <sys/resource.h>

#include <chrono>
#include <thread>
#include <utility>

namespace sched::live {

namespace {

using std::chrono::milliseconds;

constexpr int kLowerPriority = 10;  // as of nice(1)
// Eighty who scrape at once are served at once.
constexpr std::size_t kMaxConnections = 128;
// Of a review. A connection has ten seconds in all.
constexpr std::chrono::seconds kReviewDeadline{4};

// What strangers with made-up tokens can make us ask for.
k8s::TransportOptions review_limits() {
  k8s::TransportOptions options;
  options.max_connections = 2;
  options.qps = 20;
  options.burst = 40;
  return options;
}

std::string host_of(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

class MetricsPort::Parts {
 public:
  Parts(k8s::ClusterAccess cluster, std::function<std::string()> text,
        k8s::RequestObserver observer)
      : cluster_(std::move(cluster)), endpoint_(*loop_, access_, std::move(text)) {
    cluster_.credentials->on_problem(
        [this](const k8s::Error& error) { problem("credentials of the secure port", error); });
    client_.set_observer(std::move(observer));
  }

  ~Parts() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  k8s::Result<void> listen(const std::string& address, const server::CertificateFiles& files) {
    auto certificate = server::ServingCertificate::make(
        files, host_of(address), std::chrono::steady_clock::now,
        [this](const k8s::Error& error) { problem("certificate of the secure port", error); });
    if (!certificate) return tl::unexpected<k8s::Error>(std::move(certificate.error()));
    certificate_ = std::move(*certificate);
    auto server = server::HttpServer::listen(
        *loop_,
        {.address = address, .max_connections = kMaxConnections, .certificate = certificate_.get()},
        [this](const server::Request& request, server::HttpServer::Answer answer) {
          endpoint_.get(request, std::move(answer));
        },
        {.on_problem =
             [this](const k8s::Error& error, milliseconds retry_in) {
               problems_.report("serve metrics", error, retry_in);
             },
         .on_progress = [this] { problems_.resolved("serve metrics"); }});
    if (!server) return tl::unexpected<k8s::Error>(std::move(server.error()));
    server_ = std::move(*server);
    return {};
  }

  void run() {
    thread_ = std::thread([this] {
      ::setpriority(PRIO_PROCESS, 0, kLowerPriority);  // of this thread alone
      loop_->run();
    });
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  void problem(const std::string& what, const k8s::Error& error) {
    problems_.report(what, error, milliseconds(0));
  }

  server::DelegatedAccess::Calls calls() {
    return {.review_token =
                [this](const std::string& token, auto done) {
                  client_.review_token(token, kReviewDeadline, std::move(done));
                },
            .review_access =
                [this](const k8s::UserInfo& user, auto done) {
                  client_.review_access(user, {.path = "/metrics", .verb = "get"}, kReviewDeadline,
                                        std::move(done));
                }};
  }

  server::DelegatedAccess::Hooks access_hooks() {
    return {.on_problem = [this](const k8s::Error& error) { problem("review access", error); },
            .on_progress = [this] { problems_.resolved("review access"); }};
  }

  // First, so that it ends last: a program for credentials may run on it.
  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_asio_event_loop();
  k8s::ClusterAccess cluster_;
  ProblemLog problems_{*loop_};
  std::unique_ptr<k8s::Transport> transport_ =
      k8s::make_asio_transport(*loop_, cluster_.endpoint, *cluster_.credentials, review_limits());
  k8s::Client client_{*transport_, *loop_};
  server::DelegatedAccess access_{*loop_, calls(), {}, access_hooks()};
  server::MetricsEndpoint endpoint_;
  std::unique_ptr<server::ServingCertificate> certificate_;
  std::unique_ptr<server::HttpServer> server_;
  std::thread thread_;
};

k8s::Result<std::unique_ptr<MetricsPort>> MetricsPort::open(MetricsPortOptions options,
                                                            std::function<std::string()> text,
                                                            k8s::RequestObserver observer) {
  auto parts =
      std::make_unique<Parts>(std::move(options.cluster), std::move(text), std::move(observer));
  if (auto listening = parts->listen(options.address, options.certificate); !listening) {
    return tl::unexpected<k8s::Error>(
        k8s::with_context(std::move(listening.error()), "secure port"));
  }
  parts->run();
  return std::unique_ptr<MetricsPort>(new MetricsPort(std::move(parts)));
}

MetricsPort::MetricsPort(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
MetricsPort::~MetricsPort() = default;

std::uint16_t MetricsPort::port() const { return parts_->port(); }

}  // namespace sched::live
