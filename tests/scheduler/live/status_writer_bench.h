// What the tests of the writer of statuses share: a writer with calls that wait until a test
// answers them, and the pods that its watch shows.
#pragma once

#include "k8s-client/status_error.h"
#include "scheduler/live/writes/status_writer.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tests::statuses {

using namespace std::chrono_literals;
using sched::live::StatusWriter;
using Texts = std::vector<std::string>;

inline k8s::PodScheduledCondition condition(std::string message, std::int64_t generation = 1) {
  return {.status = "False",
          .reason = "Unschedulable",
          .message = std::move(message),
          .observed_generation = generation};
}

inline sched::PodRef ref(const std::string& name) { return {"ml", name, "uid-" + name}; }

struct StatusWriterBench {
  StatusWriterBench() {
    for (const char* name : {"a", "b", "c", "d", "e"}) show(name, "1");
  }
  struct Call {
    k8s::Pod pod;
    k8s::PodScheduledCondition condition;
    std::function<void(k8s::Result<void>)> done;
  };

  // Answers the oldest open write.
  void answer(const k8s::Result<void>& result) {
    REQUIRE_FALSE(calls.empty());
    Call call = std::move(calls.front());
    calls.pop_front();
    call.done(result);
  }
  void fail(int status) {
    const std::string reason = status == 404 ? "NotFound" : "";
    answer(tl::unexpected(
        k8s::status_error(k8s::Status{.code = status, .reason = reason, .message = {}})));
  }
  // "pod: message" of the writes that are open.
  [[nodiscard]] Texts open() const {
    Texts texts;
    for (const Call& call : calls) {
      texts.push_back(call.pod.metadata.name + ": " + call.condition.message);
    }
    return texts;
  }

  // The watch shows the pod unbound, at a version.
  void show(const std::string& name, const std::string& version) {
    k8s::Pod pod = tests::pod(name).in_namespace("ml").uid("uid-" + name);
    pod.metadata.resource_version = version;
    writer.observed(pod);
  }

  ManualLoop loop;
  std::deque<Call> calls;
  bool binds_wait = false;
  int problems = 0;
  std::chrono::milliseconds repeated_after{0};  // as the latest problem says
  int answered = 0;
  StatusWriter writer{
      loop,
      [this](const k8s::Pod& pod, const k8s::PodScheduledCondition& wanted, auto done) {
        calls.push_back({pod, wanted, std::move(done)});
      },
      {.max_in_flight = 6, .back_off = {.first = 500ms, .limit = 2s, .jitter = 0}},
      {.binds_wait = [this] { return binds_wait; },
       .on_problem =
           [this](const k8s::Error&, std::chrono::milliseconds delay) {
             ++problems;
             repeated_after = delay;
           },
       .on_answered = [this] { ++answered; }}};
};

}  // namespace tests::statuses
