// What the tests of the binder share: answers of a server, and a binder with calls that wait until
// a test answers them.
#pragma once

#include "k8s-client/status_error.h"
#include "scheduler/live/writes/binder.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tests::binding {

using sched::live::BindEnd;
using sched::live::Binder;
using sched::live::BindOutcome;
using namespace std::chrono_literals;

inline k8s::Error status_error(int status, std::int32_t retry_after_seconds = 0) {
  k8s::Error error = k8s::status_error(k8s::Status{
      .code = status, .reason = {}, .message = {}, .retry_after_seconds = retry_after_seconds});
  error.message = "status " + std::to_string(status);
  return error;
}

// The pod that was asked for is not there.
inline k8s::Error not_found() {
  k8s::Error error = status_error(404);
  error.reason = "NotFound";
  return error;
}

// The server has looked at the pod and decided against the bind.
inline k8s::Error conflict() {
  k8s::Error error = status_error(409);
  error.message = "pod a is already assigned to node \"n2\"";
  return error;
}

inline k8s::Error lost(bool may_have_acted) {
  k8s::Error error;
  error.kind = may_have_acted ? k8s::ErrorKind::kTimeout : k8s::ErrorKind::kConnect;
  error.message = may_have_acted ? "no answer" : "refused";
  error.may_have_acted = may_have_acted;
  return error;
}

inline sched::decision::Bind bind_decision(const std::string& name, const std::string& node = "n1",
                                           const std::string& namespace_ = "ml") {
  sched::decision::Bind bind;
  bind.pod = {namespace_, name, "uid-" + name};
  bind.scheduler_name = "gpu-scheduler";
  bind.node = node;
  return bind;
}

// A binder with calls that wait until the test answers them.
struct BinderBench {
  explicit BinderBench(std::size_t max_open = 32, double jitter = 0)
      : binder(
            loop,
            {.bind =
                 [this](const k8s::Binding& binding, auto, auto done) {
                   binds.push_back({binding, std::move(done)});
                 },
             .get_pod =
                 [this](const std::string&, const std::string& name, auto done) {
                   reads.push_back({name, std::move(done)});
                 }},
            {.queue = {.max_open = max_open},
             .max_open_reads = 4,
             .deadline = 5s,
             .margin = 1s,
             .back_off = {.first = 200ms, .limit = 5s, .jitter = jitter, .max_retry_after = 10s}},
            {.on_outcome = [this](BindOutcome outcome) { outcomes.push_back(outcome); },
             .on_problem = [this](const k8s::Error&, auto) { ++problems; },
             .on_unsettled =
                 [this](const sched::decision::Bind& bind, const std::string& answer) {
                   unsettled.push_back(bind.pod.name + ": " + answer);
                 },
             .on_set_aside = [this](std::size_t number) { set_aside = number; },
             .waits = [this](const std::string&) { return shown_unbound; },
             .may_send = [this] { return may_send; }}) {}

  struct BindCall {
    k8s::Binding binding;
    std::function<void(k8s::Result<void>)> done;
  };
  struct ReadCall {
    std::string name;
    std::function<void(k8s::Result<k8s::Pod>)> done;
  };

  // Answers the oldest open call.
  void answer_bind(const k8s::Result<void>& result) {
    REQUIRE_FALSE(binds.empty());
    BindCall call = std::move(binds.front());
    binds.pop_front();
    call.done(result);
  }
  void answer_read(const k8s::Result<k8s::Pod>& result) {
    REQUIRE_FALSE(reads.empty());
    ReadCall call = std::move(reads.front());
    reads.pop_front();
    call.done(result);
  }
  void fail_bind(k8s::Error error) { answer_bind(tl::unexpected<k8s::Error>(std::move(error))); }
  void fail_read(k8s::Error error) { answer_read(tl::unexpected<k8s::Error>(std::move(error))); }

  [[nodiscard]] std::chrono::milliseconds passed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop.now() - begin);
  }

  ManualLoop loop;
  const k8s::EventLoop::Clock::time_point begin = loop.now();
  std::deque<BindCall> binds;
  std::deque<ReadCall> reads;
  std::vector<BindOutcome> outcomes;
  std::vector<std::string> unsettled;
  std::size_t set_aside = 0;
  int problems = 0;
  bool may_send = true;
  bool shown_unbound = true;
  Binder binder;
};

inline PodBuilder pod_a() { return pod("a").in_namespace("ml").uid("uid-a"); }

// The one outcome, as text; "" while there is none.
inline std::string outcome(const BinderBench& bench) {
  if (bench.outcomes.empty()) return "";
  REQUIRE(bench.outcomes.size() == 1);
  CHECK(bench.binder.in_flight() == 0);
  switch (bench.outcomes[0].end) {
    case BindEnd::kBound:
      return "bound";
    case BindEnd::kOvertaken:
      return "overtaken: " + bench.outcomes[0].message;
    case BindEnd::kFailed:
      return "failed: " + bench.outcomes[0].message;
    case BindEnd::kUnanswered:
      return "unanswered: " + bench.outcomes[0].message;
    case BindEnd::kGivenBack:
      return "given back: " + bench.outcomes[0].message;
    case BindEnd::kStuck:
      return "stuck: " + bench.outcomes[0].message;
  }
  return "?";
}

}  // namespace tests::binding
