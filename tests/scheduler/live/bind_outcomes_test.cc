// Whether the outcome of a bind is true, while the server and the way to it fail at random, the
// watch is late, and pods are deleted, made anew under their names, and bound by others.
#include "k8s-client/status_error.h"
#include "scheduler/live/writes/binder.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::BindEnd;
using sched::live::Binder;
using sched::live::BindOutcome;

class FailingCluster {
 public:
  // `failing`: how many calls of a hundred fail.
  FailingCluster(unsigned seed, int failing) : random_(seed), failing_(failing) {}

  // A little later something happens to a pod.
  void step() {
    loop.advance(up_to(200));
    if (one_in(50)) allow(!may_send_);
    const std::string name = "p" + std::to_string(number_below(60));
    const auto found = by_name_.find(name);
    if (found == by_name_.end() || found->second->gone) return create(name);
    OnePod& pod = *found->second;
    switch (number_below(12)) {
      case 0:
        pod.gone = true;
        return show(pod);
      case 1:
        pod.terminating = true;
        return show(pod);
      case 2:
        if (!pod.node.empty() || pod.terminating) return;
        pod.node = "of another scheduler";
        return show(pod);
      default:
        // Now and then the engine does not know yet that it has a node.
        if (pod.decided.empty() && (pod.node.empty() || one_in(4))) decide(pod);
    }
  }
  // From now on all is well.
  void recover() {
    failing_ = 0;
    allow(true);
    for (int i = 0; i < 600; ++i) loop.advance(100ms);
  }
  // So many pods at once, each in a namespace of its own.
  void decide_new(int pods) {
    for (int i = 0; i < pods; ++i) {
      const std::string name = "q" + std::to_string(i);
      create(name);
      decide(*by_name_.at(name));
    }
  }

  tests::ManualLoop loop;
  int decisions = 0;
  int outcomes = 0;

 private:
  using Done = std::function<void(k8s::Result<void>)>;
  struct OnePod {
    std::string name;
    std::string uid;
    std::string node = {};
    bool terminating = false;
    bool gone = false;
    std::string decided = {};  // the node that it is to be bound to, until there is an outcome
    bool shown_unbound = false;
  };

  int number_below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool one_in(int many) { return number_below(many) == 0; }
  std::chrono::milliseconds up_to(int limit) {
    return std::chrono::milliseconds(number_below(limit));
  }
  void later(std::chrono::milliseconds delay, std::function<void()> what) {
    timers_.push_back(loop.after(delay, std::move(what)));
  }
  void allow(bool may_send) {
    may_send_ = may_send;
    if (may_send) binder.resume();
  }
  static tl::unexpected<k8s::Error> failure(int status, const std::string& message) {
    k8s::Error error = k8s::status_error(
        k8s::Status{.code = status, .reason = status == 404 ? "NotFound" : "", .message = message});
    error.message = message;
    return tl::unexpected(std::move(error));
  }
  // Something before the server answers, which has none.
  static tl::unexpected<k8s::Error> misrouted() {
    return tl::unexpected(
        k8s::status_error(k8s::Status{.code = 404, .reason = {}, .message = "no backend"}));
  }
  static tl::unexpected<k8s::Error> no_answer(k8s::ErrorKind kind) {
    k8s::Error error = k8s::make_error(kind, "no answer");
    error.may_have_acted = kind == k8s::ErrorKind::kTimeout;
    return tl::unexpected(std::move(error));
  }

  static k8s::Pod object_of(const OnePod& pod) {
    tests::PodBuilder object = tests::pod(pod.name).in_namespace("ns-" + pod.name).uid(pod.uid);
    if (!pod.node.empty()) object.on(pod.node);
    if (pod.terminating) object.terminating();
    return object;
  }
  void create(const std::string& name) {
    const std::string uid = "uid-" + std::to_string(++numbers_);
    by_name_[name] = by_uid_[uid] = std::make_shared<OnePod>(OnePod{.name = name, .uid = uid});
    show(*by_name_[name]);
  }
  // The watch is late, but in order.
  void show(const OnePod& pod) {
    shown_at_ = std::max(shown_at_, loop.now() + (one_in(4) ? up_to(8'000) : up_to(50)));
    timers_.push_back(loop.after(shown_at_ - loop.now(), [this, seen = pod] {
      by_uid_.at(seen.uid)->shown_unbound = !seen.gone && seen.node.empty();
      if (seen.gone) return binder.forget(seen.uid);
      binder.observed(object_of(seen));
    }));
  }
  void decide(OnePod& pod) {
    sched::decision::Bind bind;
    bind.pod = {"ns-" + pod.name, pod.name, pod.uid};
    bind.node = pod.decided = "n" + std::to_string(++numbers_);
    ++decisions;
    binder.bind(std::move(bind));
  }

  // What the server does with a call when it gets to it.
  k8s::Result<void> carry_out(const k8s::Binding& binding) {
    const auto found = by_name_.find(binding.pod);
    if (found == by_name_.end() || found->second->gone) return failure(404, "not found");
    OnePod& pod = *found->second;
    if (pod.uid != binding.pod_uid) return failure(409, "Precondition failed: UID in precondition");
    if (pod.terminating) return failure(409, "is being deleted, cannot be assigned");
    if (!pod.node.empty()) return failure(409, "is already assigned to node \"x\"");
    CHECK(pod.decided == binding.node);  // or it was carried out after its outcome
    pod.node = binding.node;
    show(pod);
    return {};
  }
  void answer_bind(const k8s::Binding& binding, std::chrono::milliseconds deadline,
                   const Done& done) {
    if (number_below(100) >= failing_) {
      return later(up_to(30), [this, binding, done] {
        later(up_to(30), [done, result = carry_out(binding)] { done(result); });
      });
    }
    switch (number_below(5)) {
      case 4:
        return later(1ms, [done] { done(misrouted()); });
      case 0:
        return later(up_to(20), [done] { done(failure(429, "busy")); });
      case 1:
        return later(1ms, [done] { done(no_answer(k8s::ErrorKind::kConnect)); });
      case 2:
        later(up_to(100), [done] { done(failure(500, "unknown")); });
        break;
      default:
        later(deadline, [done] { done(no_answer(k8s::ErrorKind::kTimeout)); });
    }
    // A second for its way there, and its deadline.
    if (one_in(2)) later(up_to(6'000), [this, binding] { std::ignore = carry_out(binding); });
  }
  void answer_read(const std::string& name,
                   const std::function<void(k8s::Result<k8s::Pod>)>& done) {
    if (number_below(100) < failing_ / 2) {
      const bool is_misrouted = one_in(3);
      return later(up_to(2'000), [done, is_misrouted] {
        done(is_misrouted ? misrouted() : failure(500, "unknown"));
      });
    }
    later(up_to(30), [this, name, done] {
      const OnePod& pod = *by_name_.at(name);
      k8s::Result<k8s::Pod> read = object_of(pod);
      if (pod.gone) read = failure(404, "not found");
      later(up_to(30), [done, read] { done(read); });
    });
  }

  void check(const BindOutcome& outcome) {
    ++outcomes;
    OnePod& pod = *by_uid_.at(outcome.bind.pod.uid);
    const std::string& node = outcome.bind.node;
    INFO(pod.name << " to " << node << ": " << static_cast<int>(outcome.end) << ' '
                  << outcome.message);
    CHECK(std::exchange(pod.decided, "") == node);
    if (outcome.end == BindEnd::kBound) {
      CHECK(pod.node == node);
    } else if (outcome.end == BindEnd::kOvertaken) {
      CHECK((pod.gone || pod.terminating || !pod.node.empty()));
      CHECK((pod.gone || pod.node != node));
    } else {
      CHECK(pod.node != node);
    }
  }

  std::mt19937 random_;
  int failing_;
  int numbers_ = 0;
  bool may_send_ = true;
  k8s::EventLoop::Clock::time_point shown_at_{};
  std::map<std::string, std::shared_ptr<OnePod>> by_name_;  // the last of each name
  std::map<std::string, std::shared_ptr<OnePod>> by_uid_;
  std::vector<std::unique_ptr<k8s::Timer>> timers_;

 public:
  // Last: its callbacks use the others.
  Binder binder{loop,
                {.bind = [this](const k8s::Binding& binding, std::chrono::milliseconds deadline,
                                const Done& done) { answer_bind(binding, deadline, done); },
                 .get_pod = [this](const std::string&, const std::string& name,
                                   const auto& done) { answer_read(name, done); }},
                {},
                {.on_outcome = [this](const BindOutcome& outcome) { check(outcome); },
                 .on_problem = [](const k8s::Error&, auto) {},
                 .waits = [this](const std::string& uid) { return by_uid_.at(uid)->shown_unbound; },
                 .may_send = [this] { return may_send_; }}};
};

}  // namespace

TEST_CASE("whatever fails, each bind has one outcome, which is true, and no call stays open") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    FailingCluster cluster(seed, seed % 3 == 0 ? 95 : seed % 3 == 1 ? 50 : 5);
    for (int i = 0; i < 1'000; ++i) cluster.step();
    cluster.recover();
    CHECK(cluster.outcomes == cluster.decisions);
    CHECK(cluster.binder.in_flight() == 0);
    // There is room for as many calls as at the beginning.
    cluster.decide_new(40);
    CHECK(cluster.binder.in_flight() == 40);
  }
}
