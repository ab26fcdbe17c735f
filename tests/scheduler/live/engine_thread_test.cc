// The engine's thread with a real engine: events in, decisions out.
#include "scheduler/live/engine_thread.h"

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <condition_variable>
#include <latch>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace {

using sched::PendingPods;
using sched::live::Decided;
using sched::live::EngineThread;
using sched::live::Haste;
using sched::live::Unanswered;
namespace event = sched::event;

// Collects decisions, and waits for them without a clock.
class EngineThreadBench {
 public:
  explicit EngineThreadBench(std::size_t max_open_binds = 512)
      : thread_(make_engine(),
                {.on_decisions = [this](std::vector<Decided> batch) { take(std::move(batch)); },
                 .on_pending = [](const sched::PendingPods&) {},
                 .on_quotas = [this](sched::QuotaNews quotas) { take(std::move(quotas)); },
                 .on_gpu_figures = [this](const sched::GpuFigures&) { end_round(); },
                 .clock = [] { return sched::Time(std::chrono::seconds(1'767'225'600)); }},
                nullptr, max_open_binds, std::chrono::milliseconds(0)) {
    thread_.start();
  }

  static sched::Engine make_engine() {
    auto config = sched::config::parse("", "default", plugins::registry());
    REQUIRE(config);
    return sched::Engine(std::move(config->profiles), config->engine);
  }

  void push(sched::Event event, Haste haste = Haste::kNow) {
    thread_.push(std::move(event), haste);
  }
  void set_aside(std::size_t binds) { thread_.set_aside(binds); }
  // Puts a question; blocks until it was answered with how many pods wait, or refused.
  tl::expected<PendingPods, Unanswered> ask() {
    std::optional<tl::expected<PendingPods, Unanswered>> end;
    const auto tell = [&](tl::expected<PendingPods, Unanswered> what) {
      const std::lock_guard lock(mutex_);
      end = what;
      changed_.notify_all();
    };
    thread_.ask({.answer = [&](const sched::Engine& engine) { tell(engine.pending()); },
                 .refuse = [&](Unanswered why) { tell(tl::unexpected(why)); },
                 .is_wanted = [] { return true; }});
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return end.has_value(); });
    return *end;
  }

  // Blocks until that many decisions have been made.
  std::vector<sched::Decision> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return decisions_.size() >= count; });
    return decisions_;
  }

  // Blocks until the accounts of quotas, by name, are as `wanted` says.
  template <typename Wanted>
  std::map<std::string, sched::QuotaStatus> wait_for_quotas(const Wanted& wanted) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_ && wanted(quotas_); });
    return quotas_;
  }
  // Blocks until all that was pushed before has been applied, and what follows from it was told:
  // the second round that ends from now on has begun after that.
  void wait_for_rounds() {
    for (int i = 0; i < 2; ++i) {
      std::unique_lock lock(mutex_);
      const std::size_t before = rounds_;
      lock.unlock();
      push(event::NodeDeleted{"nobody"});
      lock.lock();
      changed_.wait(lock, [this, before] { return rounds_ > before; });
    }
  }
  bool told_of_quotas() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  std::size_t stop_and_count() {
    thread_.stop();
    return decisions_.size();
  }

 private:
  void take(std::vector<Decided> batch) {
    const std::lock_guard lock(mutex_);
    for (Decided& decided : batch) decisions_.push_back(std::move(decided.decision));
    changed_.notify_all();
  }

  void end_round() {
    const std::lock_guard lock(mutex_);
    ++rounds_;
    changed_.notify_all();
  }

  void take(sched::QuotaNews news) {
    const std::lock_guard lock(mutex_);
    told_ = true;
    for (sched::QuotaStatus& each : news.changed) quotas_[each.name] = std::move(each);
    for (const std::string& name : news.gone) quotas_.erase(name);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<sched::Decision> decisions_;
  bool told_ = false;
  std::size_t rounds_ = 0;
  std::map<std::string, sched::QuotaStatus> quotas_;  // as told so far
  EngineThread thread_;
};

k8s::Pod gpu_pod(const std::string& name) {
  return tests::pod(name).uid("uid-" + name).served_by("gpu-scheduler").gpus(1);
}

k8s::Namespace namespace_named(const std::string& name) {
  k8s::Namespace made;
  made.metadata.name = name;
  return made;
}

// Two GPUs of any type for the namespace "default".
k8s::GpuQuota team_quota() {
  k8s::GpuQuota quota;
  quota.metadata.name = "team";
  quota.metadata.uid = "uid-team";
  quota.spec.namespaces = {"default"};
  quota.spec.quotas = {{.gpu_type = "*", .guaranteed = k8s::Quantity::of(2)}};
  return quota;
}

std::string node_of(const sched::Decision& decision) {
  const auto* bind = std::get_if<sched::decision::Bind>(&decision);
  return bind == nullptr ? "" : bind->node;
}

}  // namespace

TEST_CASE("pods are decided on once the cluster is known") {
  EngineThreadBench bench;
  bench.push(event::NodeUpserted{tests::node("n1").gpus(1)});
  bench.push(event::PodUpserted{gpu_pod("a")});
  bench.push(event::PodUpserted{gpu_pod("b")});
  bench.push(event::Synced{});
  const auto decisions = bench.wait_for(2);
  CHECK(node_of(decisions[0]) == "n1");
  CHECK(std::holds_alternative<sched::decision::Unschedulable>(decisions[1]));
}

TEST_CASE("it is known how long the engine has worked on what it has before it") {
  using namespace std::chrono_literals;
  using sched::live::Heartbeat;
  std::latch works(1);
  std::latch go_on(1);
  EngineThread thread(EngineThreadBench::make_engine(),
                      {.on_decisions =
                           [&](const std::vector<Decided>&) {
                             works.count_down();
                             go_on.wait();
                           },
                       .on_pending = [](const sched::PendingPods&) {},
                       .clock = [] { return sched::Time(1s); }},
                      nullptr);
  CHECK(thread.working_for(Heartbeat::Clock::now() + 1h) == 0s);
  // It waits for a thread that has not begun.
  thread.push(event::PodUpserted{gpu_pod("a")});
  thread.push(event::Synced{});
  CHECK(thread.working_for(Heartbeat::Clock::now() + 1h) >= 1h);
  thread.start();
  works.wait();
  CHECK(thread.working_for(Heartbeat::Clock::now() + 1h) >= 1h);
  go_on.count_down();
  while (thread.working_for(Heartbeat::Clock::now()) > 0s) std::this_thread::yield();
  thread.stop();
  CHECK(thread.working_for(Heartbeat::Clock::now() + 1h) == 0s);
  // The outcome of a bind that was under way is not processed any more.
  thread.push(event::BindFailed{{"default", "a", "uid-a"}, "n1", "no"});
  CHECK(thread.working_for(Heartbeat::Clock::now() + 1h) == 0s);
}

TEST_CASE("binds that are set aside do not keep others from being decided") {
  EngineThreadBench bench(1);
  bench.push(event::NodeUpserted{tests::node("n1").gpus(8)});
  for (const char* name : {"a", "b", "c", "d"}) bench.push(event::PodUpserted{gpu_pod(name)});
  bench.push(event::Synced{});
  bench.wait_for(1);
  bench.set_aside(1);
  bench.wait_for(2);
  bench.set_aside(2);
  bench.wait_for(3);
  // One has ended, and is none of those set aside any more: nothing has changed.
  bench.set_aside(1);
  bench.push(event::BindSucceeded{{"default", "a", "uid-a"}, "n1"});
  bench.wait_for_rounds();
  CHECK(bench.stop_and_count() == 3);
}

TEST_CASE("with too many binds open it waits for outcomes") {
  EngineThreadBench bench(1);
  bench.push(event::NodeUpserted{tests::node("n1").gpus(8)});
  for (const char* name : {"a", "b", "c"}) bench.push(event::PodUpserted{gpu_pod(name)});
  bench.push(event::Synced{});
  auto decisions = bench.wait_for(1);
  CHECK(decisions.size() == 1);
  // Now somebody waits for it.
  bench.push(event::BindSucceeded{{"default", "a", "uid-a"}, "n1"}, Haste::kSoon);
  decisions = bench.wait_for(2);
  CHECK(decisions.size() == 2);
  // A failed bind makes room as well, and its pod is tried again later than the others.
  bench.push(event::BindFailed{{"default", "b", "uid-b"}, "n1", "no"});
  decisions = bench.wait_for(3);
  CHECK(std::get<sched::decision::Bind>(decisions[2]).pod.name == "c");
  CHECK(bench.stop_and_count() == 3);
}

TEST_CASE("what is in no haste is told, too, if nothing comes after it") {
  EngineThreadBench bench;
  bench.push(event::NodeUpserted{tests::node("n1").gpus(8)});
  bench.push(event::PodUpserted{gpu_pod("a")});
  bench.push(event::Synced{});
  bench.wait_for(1);
  // Within the time in which outcomes are expected, and long after it.
  for (const char* name : {"b", "c"}) {
    bench.push(event::PodUpserted{gpu_pod(name)}, Haste::kSoon);
    bench.wait_for(name == std::string("b") ? 2 : 3);
    bench.wait_for_rounds();
  }
  CHECK(bench.stop_and_count() == 3);
}

TEST_CASE("the accounts of quotas are told when the cluster is known, and when they change") {
  EngineThreadBench bench;
  bench.push(event::NamespaceUpserted{namespace_named("default")});
  bench.push(event::NodeUpserted{tests::node("n1").gpus(8)});
  bench.push(event::QuotaUpserted{team_quota()});
  bench.push(event::PodUpserted{gpu_pod("a")});
  bench.push(event::Synced{});
  const auto used = [](std::int64_t gpus) {
    return [gpus](const std::map<std::string, sched::QuotaStatus>& quotas) {
      return quotas.size() == 1 &&
             quotas.begin()->second.status.total.used == k8s::Quantity::of(gpus);
    };
  };
  const auto told = bench.wait_for_quotas(used(1));
  CHECK(told.at("team").uid == "uid-team");
  bench.push(event::PodUpserted{gpu_pod("b")});
  bench.wait_for_quotas(used(2));
  bench.push(event::QuotaDeleted{"team"});
  bench.wait_for_quotas([](const auto& quotas) { return quotas.empty(); });
}

TEST_CASE("a standby says nothing of quotas") {
  EngineThreadBench bench;
  bench.push(event::NodeUpserted{tests::node("n1").gpus(8)});
  bench.push(event::NamespaceUpserted{namespace_named("default")});
  bench.push(event::QuotaUpserted{team_quota()});
  bench.push(event::PodUpserted{gpu_pod("a")});
  bench.wait_for_rounds();
  CHECK_FALSE(bench.told_of_quotas());
  // It has what it does not say.
  bench.push(event::Synced{});
  CHECK(bench.wait_for_quotas([](const auto& quotas) { return !quotas.empty(); }).size() == 1);
}

TEST_CASE("a question is answered by the engine as it is, once it decides") {
  EngineThreadBench bench;
  CHECK(bench.ask() == tl::unexpected(Unanswered::kNotDeciding));
  bench.push(event::NodeUpserted{tests::node("n1").gpus(1)});
  for (const char* name : {"a", "b"}) bench.push(event::PodUpserted{gpu_pod(name)});
  bench.push(event::Synced{});
  bench.wait_for(2);
  CHECK(bench.ask() == PendingPods{.unschedulable = 1});
  // More than one, though each has the next one wait.
  CHECK(bench.ask() == PendingPods{.unschedulable = 1});
}

TEST_CASE("a question that nobody waits for is not computed, those at the end are refused") {
  EngineThread thread(EngineThreadBench::make_engine(),
                      {.on_decisions = [](const std::vector<Decided>&) {},
                       .on_pending = [](const PendingPods&) {},
                       .clock = [] { return sched::Time(std::chrono::seconds(1)); }},
                      nullptr);
  std::vector<std::string> said;
  const auto ask = [&](const std::string& name) {
    thread.ask({.answer = [&, name](const sched::Engine&) { said.push_back("answer " + name); },
                .refuse =
                    [&, name](Unanswered why) {
                      CHECK(why == Unanswered::kEnded);
                      said.push_back("refuse " + name);
                    },
                .is_wanted = [name] { return name != "gone"; }});
  };
  ask("gone");
  ask("a");  // of a thread that has not begun
  thread.stop();
  ask("b");
  CHECK(said == std::vector<std::string>{"refuse a", "refuse b"});
}

TEST_CASE("the engine's clock has the time that passes while the machine is suspended") {
  using namespace std::chrono_literals;
  const sched::Time start{1'767'225'600s};
  k8s::BootClock::time_point boot{7min};
  const auto clock = sched::live::steady_wall_clock(start, [&] { return boot; });
  CHECK(clock() == start);
  boot += 8h + 250ms;
  CHECK(clock() == start + 8h + 250ms);
}

TEST_CASE("nothing is decided after the stop") {
  EngineThreadBench bench;
  CHECK(bench.stop_and_count() == 0);
  bench.push(event::NodeUpserted{tests::node("n1").gpus(1)});
  bench.push(event::PodUpserted{gpu_pod("a")});
  bench.push(event::Synced{});
  CHECK(bench.stop_and_count() == 0);
}
