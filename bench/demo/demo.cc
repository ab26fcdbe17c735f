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

// What the API server says of a pod; nothing while it says nothing.
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
    Outcome& known = outcomes_[pod.metadata.name];
    if (known == *outcome) return;
    known = std::move(*outcome);
    // A bound pod is told when its scores are known, from the record.
    if (known.waits()) print_outcome(std::cout, known);
  }

  // Looks now and again, until all is as expected or time is up.
  void look() {
    auto read = record_.read([this](const sched::Decision& decision) { note(decision); });
    if (!read) fmt::print(stderr, "demo: {}\n", read.error().message);
    tell_bound();
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
    const auto* bind = std::get_if<sched::decision::Bind>(&decision);
    if (bind == nullptr || bind->pod.namespace_ != options_.namespace_) return;
    scores_[{bind->pod.name, bind->node}] = scores_text(*bind);
  }

  // The record lags behind the API server by up to a second.
  void tell_bound() {
    for (auto& [name, outcome] : outcomes_) {
      if (outcome.waits() || !outcome.scores.empty()) continue;
      const auto scores = scores_.find({name, outcome.node});
      if (scores == scores_.end()) continue;
      outcome.scores = scores->second;
      print_outcome(std::cout, outcome);
    }
  }

  // In the order in which the expectations name them.
  [[nodiscard]] std::vector<Outcome> outcomes() const {
    std::vector<Outcome> in_order;
    for (const ExpectedPod& pod : expected_) {
      const auto found = outcomes_.find(pod.name);
      // A bound pod without scores yet is not finished.
      if (found == outcomes_.end()) continue;
      if (!found->second.waits() && found->second.scores.empty()) continue;
      in_order.push_back(found->second);
    }
    for (const auto& [name, outcome] : outcomes_) {
      const bool listed =
          std::any_of(expected_.begin(), expected_.end(),
                      [&, pod = name](const ExpectedPod& e) { return e.name == pod; });
      if (!listed) in_order.push_back(outcome);
    }
    return in_order;
  }

  const DemoOptions& options_;
  std::vector<ExpectedPod> expected_;
  k8s::EventLoop& loop_;
  RecordTail record_;
  k8s::EventLoop::Clock::time_point deadline_;
  std::unique_ptr<k8s::Timer> timer_;
  std::map<std::string, Outcome> outcomes_;
  std::map<std::pair<std::string, std::string>, std::string> scores_;  // by pod and node
};

}  // namespace

int run_demo(const DemoOptions& options) {
  auto expected = load_expected(options.expected);
  auto access = k8s::load_kubeconfig(options.kubeconfig);
  if (!expected || !access) {
    fmt::print(stderr, "demo: {}\n", expected ? access.error().message : expected.error().message);
    return 2;
  }
  const auto loop = k8s::make_asio_event_loop();
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
