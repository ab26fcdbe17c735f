// The secure port: /metrics, /explain, /candidates and /debug/recording, and if requested the page
// at /ui and the answers for tenants at /answers, over HTTPS, on a thread of its own, for accounts
// that the API server allows.
//
// Requests to it take no time on the event loop, which renews the lease and answers probes: TLS,
// pages of megabytes and the reviews of tokens run on the port's thread, which has a lower
// priority. Questions that only the engine can answer go to the engine's thread, which spends a
// bounded part of its time on them (questions/question_queue.h). The port sends requests to the API
// server over its own two connections, with a rate limit, and with its own credentials, because
// those of the event loop may be used on one thread only.
#pragma once

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/client.h"
#include "k8s-client/error.h"
#include "scheduler/live/questions/question_queue.h"
#include "scheduler/live/record/recording_ring.h"
#include "scheduler/live/tenants/tenant_answers.h"
#include "scheduler/live/ui/page.h"
#include "scheduler/server/http_server.h"
#include "scheduler/server/serving_certificate.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

namespace sched::live {

struct SecurePortOptions {
  std::string address;  // "IP:PORT"
  server::CertificateFiles certificate;
  k8s::ClusterAccess cluster;  // where rights and pods are asked for
  std::chrono::milliseconds time_limit = server::HttpServer::kTimeLimit;  // of a connection
};

class SecurePort {
 public:
  // What it serves of the scheduler. All are called on its thread.
  struct Scheduler {
    std::function<std::string()> metrics;   // Prometheus' text format
    std::function<void(Question)> ask;      // EngineThread::ask
    std::unordered_set<std::string> names;  // the schedulers whose pods may be asked about
    k8s::RequestObserver on_request;        // each request to the API server
    // The identity of the replica that leads, if it is another one.
    std::function<std::string()> leader = [] { return std::string(); };
    // FlightRecorder::take; its answer comes on any thread. Empty: there is no flight recording.
    std::function<void(std::function<void(RecordingParts)>)> recording = {};
    // nullopt: the page is not served, or the answers for tenants are not. Their `data_age` may
    // call back on any thread.
    std::optional<UiPage::Scheduler> ui = {};
    std::optional<TenantAnswers::Scheduler> answers = {};
  };

  // Opens the port, and serves until it is destroyed.
  [[nodiscard]] static k8s::Result<std::unique_ptr<SecurePort>> open(SecurePortOptions options,
                                                                     Scheduler scheduler);
  ~SecurePort();
  SecurePort(const SecurePort&) = delete;
  SecurePort& operator=(const SecurePort&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  class Parts;
  explicit SecurePort(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sched::live
