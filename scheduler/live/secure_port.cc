#include "scheduler/live/secure_port.h"

#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/event_loop.h"
#include "scheduler/framework/long_lists.h"
#include "scheduler/live/log.h"
#include "scheduler/live/problem_log.h"
#include "scheduler/live/questions/pod_questions.h"
#include "scheduler/live/thread_name.h"
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
// Enough for eighty scrapers at the same time, and for what else comes then.
constexpr std::size_t kMaxConnections = 128;
const char* const kMetrics = "/metrics";
const char* const kRecording = "/debug/recording";
// Of a review, or of reading a pod. A connection has ten seconds in all.
constexpr std::chrono::seconds kReviewDeadline{4};

// Bounds the requests that clients with invalid tokens can cause.
k8s::TransportOptions review_limits(std::string user_agent) {
  k8s::TransportOptions options;
  options.user_agent = std::move(user_agent);
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

class SecurePort::Parts {
 public:
  Parts(k8s::ClusterAccess cluster, Scheduler scheduler)
      : cluster_(std::move(cluster)),
        metrics_(*loop_, std::move(scheduler.metrics)),
        asker_(*loop_, std::move(scheduler.ask), {}, std::move(scheduler.leader)),
        questions_(*loop_, access_, asker_, get_pod(), std::move(scheduler.names)),
        recording_(std::move(scheduler.recording)) {
    if (scheduler.ui) {
      scheduler.ui->data_age = on_own_thread(std::move(scheduler.ui->data_age));
      page_.emplace(*loop_, access_, asker_, *std::move(scheduler.ui));
    }
    if (scheduler.answers) {
      scheduler.answers->data_age = on_own_thread(std::move(scheduler.answers->data_age));
      answers_.emplace(*loop_, access_, asker_, get_pod(), *std::move(scheduler.answers));
    }
    cluster_.credentials->on_problem(
        [this](const k8s::Error& error) { problem("credentials of the secure port", error); });
    client_.set_observer(std::move(scheduler.on_request));
  }

  ~Parts() {
    loop_->stop();
    if (thread_.joinable()) thread_.join();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  k8s::Result<void> listen(const SecurePortOptions& options) {
    auto certificate = server::ServingCertificate::make(
        options.certificate, host_of(options.address), std::chrono::steady_clock::now,
        [this](const k8s::Error& error) { problem("certificate of the secure port", error); });
    if (!certificate) return tl::unexpected<k8s::Error>(std::move(certificate.error()));
    certificate_ = std::move(*certificate);
    auto server = server::HttpServer::listen(
        *loop_,
        {.address = options.address,
         .max_connections = kMaxConnections,
         .time_limit = options.time_limit,
         .certificate = certificate_.get()},
        [this](const server::Request& request, server::HttpServer::Answer answer) {
          get(request, std::move(answer));
        },
        {.on_problem =
             [this](const k8s::Error& error, milliseconds retry_in) {
               problems_.report("serve the secure port", error, retry_in);
             },
         .on_progress = [this] { problems_.resolved("serve the secure port"); }});
    if (!server) return tl::unexpected<k8s::Error>(std::move(server.error()));
    server_ = std::move(*server);
    return {};
  }

  void run() {
    thread_ = std::thread([this] {
      name_this_thread("secure-port");
      ::setpriority(PRIO_PROCESS, 0, kLowerPriority);  // of this thread alone
      loop_->run();
    });
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  void get(const server::Request& request, server::HttpServer::Answer answer) {
    if (PodQuestions::serves(request.path)) return questions_.get(request, std::move(answer));
    if (request.path == kRecording) return send_recording(request, std::move(answer));
    if (page_ && UiPage::serves(request.path)) return page_->get(request, std::move(answer));
    if (TenantAnswers::serves(request.path)) return answer_tenant(request, std::move(answer));
    if (request.path != kMetrics) {
      const std::string page = page_ ? ", and /ui" : "";
      return answer(server::text_reply(
          404, "not here; there are /metrics, /explain, /candidates and /debug/recording" + page +
                   "\n"));
    }
    server::if_allowed(access_, request, {k8s::NonResourceAccess{.path = kMetrics, .verb = "get"}},
                       std::move(answer), [this](const server::HttpServer::Answer& allowed) {
                         allowed(metrics_.page());
                       });
  }

  void answer_tenant(const server::Request& request, server::HttpServer::Answer answer) {
    if (answers_) return answers_->get(request, std::move(answer));
    answer(server::text_reply(404,
                              "answers for tenants are off here; the scheduler's argument "
                              "--answers switches them on\n"));
  }

  // Like `ask`, but `done` is called on this thread, whichever thread `ask` calls back on.
  template <typename Answer>
  std::function<void(std::function<void(Answer)>)> on_own_thread(
      std::function<void(std::function<void(Answer)>)> ask) {
    return [this, ask = std::move(ask)](std::function<void(Answer)> done) {
      ask([this, done = std::move(done)](Answer answer) {
        loop_->post([done, answer = std::move(answer)] { done(answer); });
      });
    };
  }

  void send_recording(const server::Request& request, server::HttpServer::Answer answer) {
    server::if_allowed(
        access_, request, {k8s::NonResourceAccess{.path = kRecording, .verb = "get"}},
        std::move(answer), [this](const server::HttpServer::Answer& allowed) {
          if (!recording_) {
            return allowed(server::text_reply(404, "--flight-recording 0: there is none\n"));
          }
          recording_([this, allowed](RecordingParts parts) {
            loop_->post([allowed, parts = std::move(parts)] { allowed(recording_reply(parts)); });
          });
        });
  }

  static server::Reply recording_reply(const RecordingParts& parts) {
    if (parts.empty())
      return server::text_reply(503, "the flight recording has ended, see the log\n");
    return {.more = parts, .content_type = "application/gzip"};
  }

  void problem(const std::string& what, const k8s::Error& error) {
    problems_.report(what, error, milliseconds(0));
  }

  server::DelegatedAccess::Calls calls() {
    return {.review_token =
                [this](const std::string& token, auto done) {
                  client_.review_token(token, kReviewDeadline, std::move(done));
                },
            .review_access =
                [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
                  client_.review_access(user, access, kReviewDeadline, std::move(done));
                }};
  }

  PodQuestions::GetPod get_pod() {
    return [this](const std::string& namespace_, const std::string& name, auto done) {
      client_.get_pod(
          namespace_, name,
          [done = std::move(done)](const k8s::Result<k8s::Pod>& pod) {
            if (!pod) return done(pod);
            k8s::Pod kept = *pod;
            drop_long_lists(kept);
            done(std::move(kept));
          },
          kReviewDeadline);
    };
  }

  server::DelegatedAccess::Hooks access_hooks() {
    return {.on_problem = [this](const k8s::Error& error) { problem("review access", error); },
            .on_progress = [this] { problems_.resolved("review access"); }};
  }

  // First, so that it ends last: a program for credentials may run on it.
  std::unique_ptr<k8s::EventLoop> loop_ = k8s::make_event_loop();
  k8s::ClusterAccess cluster_;
  ProblemLog problems_{*loop_};
  std::unique_ptr<k8s::Transport> transport_ = k8s::make_asio_transport(
      *loop_, cluster_.endpoint, *cluster_.credentials, review_limits(cluster_.user_agent));
  k8s::Client client_{*transport_, *loop_};
  server::DelegatedAccess access_{*loop_, calls(), {}, access_hooks()};
  server::MetricsEndpoint metrics_;
  Asker asker_;
  PodQuestions questions_;
  std::function<void(std::function<void(RecordingParts)>)> recording_;
  std::optional<UiPage> page_;
  std::optional<TenantAnswers> answers_;
  std::unique_ptr<server::ServingCertificate> certificate_;
  std::unique_ptr<server::HttpServer> server_;
  std::thread thread_;
};

k8s::Result<std::unique_ptr<SecurePort>> SecurePort::open(SecurePortOptions options,
                                                          Scheduler scheduler) {
  auto parts = std::make_unique<Parts>(std::move(options.cluster), std::move(scheduler));
  if (auto listening = parts->listen(options); !listening) {
    return tl::unexpected<k8s::Error>(
        k8s::with_context(std::move(listening.error()), "secure port"));
  }
  parts->run();
  return std::unique_ptr<SecurePort>(new SecurePort(std::move(parts)));
}

SecurePort::SecurePort(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SecurePort::~SecurePort() = default;

std::uint16_t SecurePort::port() const { return parts_->port(); }

}  // namespace sched::live
