// The cost of a namespace with binds that get no certain answer, for other namespaces and for the
// API server, with an engine that decides again whatever comes back.
#include "k8s-client/status_error.h"
#include "scheduler/live/writes/binder.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::BindEnd;
using sched::live::Binder;
using sched::live::BindOutcome;
using Duration = k8s::EventLoop::Clock::duration;

constexpr auto kDeadline = 5s;

// A server with a webhook for binds in the namespaces that begin with "bad".
struct WebhookWorld {
  enum class Webhook { kDown, kBusy, kHangs };
  explicit WebhookWorld(Webhook webhook_) : webhook(webhook_) {}

  void create(const std::string& namespace_, int pods) {
    for (int i = 0; i < pods; ++i) decide(namespace_, "pod-" + std::to_string(i));
  }
  void decide(const std::string& namespace_, const std::string& name) {
    sched::decision::Bind bind;
    bind.pod = {namespace_, name, "uid-" + namespace_ + name};
    bind.node = "n1";
    binder.bind(std::move(bind));
  }
  void serve(const k8s::Binding& binding, std::function<void(k8s::Result<void>)> done) {
    const bool is_bad = binding.namespace_.starts_with("bad");
    const std::string key = binding.namespace_ + "/" + binding.pod;
    if (is_bad) ++bad_calls;
    after(is_bad && webhook == Webhook::kHangs ? Duration(kDeadline) : Duration(5ms),
          [this, is_bad, key, done = std::move(done)] {
            if (is_bad) return done(tl::unexpected(refusal()));
            bound[key] = loop.now().time_since_epoch();
            done({});
          });
  }
  [[nodiscard]] k8s::Error refusal() const {
    if (webhook == Webhook::kHangs) {
      k8s::Error error = k8s::make_error(k8s::ErrorKind::kTimeout, "no answer");
      error.may_have_acted = true;
      return error;
    }
    return k8s::status_error(k8s::Status{
        .code = webhook == Webhook::kDown ? 500 : 429, .reason = {}, .message = "webhook"});
  }
  void read(const std::string& namespace_, const std::string& name,
            std::function<void(k8s::Result<k8s::Pod>)> done) {
    ++reads;
    const bool is_bound = bound.contains(namespace_ + "/" + name);
    auto pod = tests::pod(name).in_namespace(namespace_).uid("uid-" + namespace_ + name);
    after(5ms, [answer = k8s::Pod(is_bound ? pod.on("n1") : pod), done = std::move(done)] {
      done(answer);
    });
  }
  // The engine's back-off, but for the growth.
  void on_outcome(const BindOutcome& outcome) {
    if (outcome.end == BindEnd::kBound) return;
    if (!outcome.message.empty()) told.insert(outcome.bind.pod.uid);
    after(outcome.end == BindEnd::kGivenBack || outcome.end == BindEnd::kStuck ? 1s : 10s,
          [this, pod = outcome.bind.pod] { decide(pod.namespace_, pod.name); });
  }
  // Timers are kept, or they would not run.
  void after(Duration delay, std::function<void()> task) {
    const auto id = next_timer++;
    timers[id] = loop.after(delay, [this, id, task = std::move(task)] {
      const auto self = std::move(timers.extract(id).mapped());
      task();
    });
  }

  tests::ManualLoop loop;
  Webhook webhook;
  int bad_calls = 0;
  int reads = 0;
  std::map<std::string, Duration> bound;  // when
  std::set<std::string> told;             // uids
  std::size_t set_aside = 0;
  std::size_t most_set_aside = 0;
  std::map<int, std::unique_ptr<k8s::Timer>> timers;
  int next_timer = 0;
  Binder binder{loop,
                {.bind = [this](const k8s::Binding& binding, auto,
                                auto done) { serve(binding, std::move(done)); },
                 .get_pod = [this](const std::string& namespace_, const std::string& name,
                                   auto done) { read(namespace_, name, std::move(done)); }},
                {.deadline = kDeadline},
                {.on_outcome = [this](const BindOutcome& outcome) { on_outcome(outcome); },
                 .on_problem = [](const k8s::Error&, auto) {},
                 .on_unsettled = [this](const sched::decision::Bind& bind,
                                        const std::string&) { told.insert(bind.pod.uid); },
                 .on_set_aside =
                     [this](std::size_t binds) {
                       set_aside = binds;
                       most_set_aside = std::max(most_set_aside, binds);
                     }}};
};

struct Case {
  std::string name;
  WebhookWorld::Webhook webhook;
};
const std::vector<Case> kCases{{"down", WebhookWorld::Webhook::kDown},
                               {"busy", WebhookWorld::Webhook::kBusy},
                               {"hangs", WebhookWorld::Webhook::kHangs}};

}  // namespace

TEST_CASE("binds that are never answered for certain do not keep others waiting") {
  for (const Case& c : kCases) {
    INFO(c.name);
    WebhookWorld world(c.webhook);
    world.create("bad", 40);
    world.loop.advance(50ms);
    world.create("ml", 100);
    world.loop.advance(100ms);
    CHECK(world.bound.size() == 100);

    // Those that are known by then cost no wait at all, however many they are, and in however many
    // namespaces.
    for (const char* space : {"bad-2", "bad-3", "bad-4"}) world.create(space, 100);
    world.loop.advance(30s);
    world.bound.clear();
    world.create("ml", 100);
    world.loop.advance(100ms);
    CHECK(world.bound.size() == 100);
    CHECK(world.most_set_aside <= 4 * 44);

    // Each pod has been told why it is not bound, and no other one.
    world.loop.advance(3min);
    CHECK(world.told.size() == 340);
  }
}

TEST_CASE("nor do those of twenty namespaces, for longer than a call") {
  for (const Case& c : kCases) {
    INFO(c.name);
    WebhookWorld world(c.webhook);
    for (int i = 0; i < 20; ++i) world.create("bad-" + std::to_string(i), 40);
    std::map<std::string, Duration> created;
    for (int i = 0; i < 240; ++i) {
      const std::string name = "pod-" + std::to_string(i);
      created["ml/" + name] = world.loop.now().time_since_epoch();
      world.decide("ml", name);
      world.loop.advance(500ms);
    }
    world.loop.advance(kDeadline);
    REQUIRE(world.bound.size() == created.size());
    Duration longest{};
    for (const auto& [key, at] : world.bound) longest = std::max(longest, at - created[key]);
    CHECK(longest <= kDeadline + 100ms);
  }
}

TEST_CASE("nor do those of the same namespace, once they are known") {
  WebhookWorld world(WebhookWorld::Webhook::kDown);
  world.create("bad", 8);
  world.loop.advance(1min);
  const int before = world.bad_calls;
  // The webhook is for some pods of the namespace only.
  sched::decision::Bind bind;
  bind.pod = {"bad", "new", "uid-new"};
  world.binder.bind(bind);
  CHECK(world.bad_calls == before + 1);
}

TEST_CASE("binds that are never answered for certain cost less than a bind call a second") {
  WebhookWorld world(WebhookWorld::Webhook::kDown);
  world.create("bad", 32);
  world.loop.advance(1h);
  CHECK(world.bad_calls < 3600);
  CHECK(world.reads < 5 * 3600);
  CHECK(world.set_aside <= 12);
  world.create("ml", 100);
  world.loop.advance(100ms);
  CHECK(world.bound.size() == 100);
}
