#include "bench/demo/demo.h"

#include "bench/demo/expected.h"
#include "bench/demo/outcome.h"
#include "bench/demo/outcome_table.h"
#include "bench/demo/record_tail.h"
#include "bench/demo/scores_text.h"
#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/event_loop.h"
#include "k8s-client/watch/reflector.h"

#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::chrono::milliseconds kLookInterval{100};

constexpr const char* kGated = "SchedulingGated";

// The API server's state of a pod; nothing if there is none yet.
std::optional<Outcome> outcome_of(const k8s::Pod& pod) {
  if (!pod.spec.node_name.empty()) {
    return Outcome{
        .pod = pod.metadata.name, .node = pod.spec.node_name, .scores = {}, .message = {}};
  }
  const k8s::PodCondition* condition = pod.condition("PodScheduled");
  if (condition == nullptr || condition->status != "False") return std::nullopt;
  return Outcome{.pod = pod.metadata.name, .node = {}, .scores = {}, .message = condition->message};
}

class Demo {
 public:
  Demo(const DemoOptions& options, std::vector<ExpectedPod> expected, k8s::EventLoop& loop)
      : options_(options),
        expected_(std::move(expected)),
        loop_(loop),
        record_(options.record),
        deadline_(loop.now() + options.limit) {}

  void observe(const k8s::Pod& pod) {
    auto outcome = outcome_of(pod);
    if (!outcome) return;
    // The scheduler does not decide on gated pods; the API server has their condition.
    const k8s::PodCondition* condition = pod.condition("PodScheduled");
    if (condition != nullptr && condition->reason == kGated) tell(*outcome);
    outcomes_[pod.metadata.name] = std::move(*outcome);
  }

  // Checks repeatedly until everything is as expected or the time is up.
  void look() {
    auto read = record_.read([this](const sched::Decision& decision) { note(decision); });
    if (!read) fmt::print(stderr, "demo: {}\n", read.error().message);
    if (differences(expected_, outcomes()).empty() || loop_.now() > deadline_ || !read) {
      loop_.stop();
      return;
    }
    timer_ = loop_.after(kLookInterval, [this] { look(); });
  }

  [[nodiscard]] int close() {
    print_table(std::cout, outcomes());
    const auto found = differences(expected_, outcomes());
    for (const std::string& text : found) fmt::print("\nnot as it should be: {}", text);
    if (found.empty()) {
      fmt::print("\nAll {} pods are where they should be, or wait for the reason they should.\n",
                 expected_.size());
      return 0;
    }
    fmt::print("\n");
    return 1;
  }

 private:
  void note(const sched::Decision& decision) {
    if (const auto* bind = std::get_if<sched::decision::Bind>(&decision)) {
      if (bind->pod.namespace_ != options_.namespace_) return;
      scores_[{bind->pod.name, bind->node}] = scores_text(*bind);
      tell(
          {.pod = bind->pod.name, .node = bind->node, .scores = scores_text(*bind), .message = {}});
    } else if (const auto* waits = std::get_if<sched::decision::Unschedulable>(&decision)) {
      if (waits->pod.namespace_ != options_.namespace_) return;
      tell({.pod = waits->pod.name, .node = {}, .scores = {}, .message = waits->message});
    }
  }

  // A line for each new outcome.
  void tell(const Outcome& outcome) {
    Outcome& told = told_[outcome.pod];
    if (told == outcome) return;
    told = outcome;
    print_outcome(std::cout, outcome);
  }

  // In the order of the expectations.
  [[nodiscard]] std::vector<Outcome> outcomes() const {
    std::vector<Outcome> in_order;
    for (const ExpectedPod& pod : expected_) {
      const auto found = outcomes_.find(pod.name);
      if (found != outcomes_.end()) add_with_scores(found->second, in_order);
    }
    for (const auto& [name, outcome] : outcomes_) {
      const bool listed =
          std::any_of(expected_.begin(), expected_.end(),
                      [&, pod = name](const ExpectedPod& e) { return e.name == pod; });
      if (!listed) add_with_scores(outcome, in_order);
    }
    return in_order;
  }

  // A bound pod without known scores (the record lags up to a second) is not finished.
  void add_with_scores(Outcome outcome, std::vector<Outcome>& to) const {
    if (!outcome.waits()) {
      const auto scores = scores_.find({outcome.pod, outcome.node});
      if (scores == scores_.end()) return;
      outcome.scores = scores->second;
    }
    to.push_back(std::move(outcome));
  }

  const DemoOptions& options_;
  std::vector<ExpectedPod> expected_;
  k8s::EventLoop& loop_;
  RecordTail record_;
  k8s::EventLoop::Clock::time_point deadline_;
  std::unique_ptr<k8s::Timer> timer_;
  std::map<std::string, Outcome> outcomes_;  // from the API server, without scores
  std::map<std::string, Outcome> told_;
  std::map<std::pair<std::string, std::string>, std::string> scores_;  // by pod and node
};

}  // namespace

int run_demo(const DemoOptions& options) {
  // First, so that it ends last: the credentials may have a program running on it.
  const auto loop = k8s::make_event_loop();
  auto expected = load_expected(options.expected);
  auto access = k8s::load_kubeconfig(options.kubeconfig);
  if (!expected || !access) {
    fmt::print(stderr, "demo: {}\n", expected ? access.error().message : expected.error().message);
    return 2;
  }
  const auto transport = k8s::make_asio_transport(*loop, access->endpoint, *access->credentials);
  Demo demo(options, std::move(*expected), *loop);
  k8s::Reflector<k8s::Pod> pods(*transport, *loop,
                                {.path = "/api/v1/namespaces/" + options.namespace_ + "/pods",
                                 .field_selector = {},
                                 .label_selector = {}},
                                {.on_upsert = [&](const k8s::Pod& pod) { demo.observe(pod); },
                                 .on_delete = [](const k8s::ObjectKey&) {},
                                 .on_synced = [] {},
                                 .on_problem =
                                     [](const k8s::Error& error, std::chrono::milliseconds) {
                                       fmt::print(stderr, "demo: {}\n", error.message);
                                     }});
  loop->post([&] {
    pods.start();
    demo.look();
  });
  loop->run();
  pods.stop();
  return demo.close();
}

}  // namespace bench
