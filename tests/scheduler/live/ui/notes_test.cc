// What is noted for the page, and how much at most.
#include "scheduler/live/ui/notes.h"

#include "scheduler/live/ui/history.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <string>

using namespace sched;
using live::History;
using live::UiNotes;
using tests::pod;

namespace {

using Reason = decision::Unschedulable::Reason;

constexpr Time kNotedAt{std::chrono::seconds{1'767'265'200}};

decision::Bind bind_of(const std::string& uid) {
  decision::Bind bind;
  bind.pod = {.namespace_ = "ml", .name = "name-" + uid, .uid = uid};
  bind.node = "n1";
  return bind;
}

decision::Unschedulable refusal_of(const std::string& uid, const std::string& message,
                                   const std::string& details = "") {
  decision::Unschedulable refusal;
  refusal.pod = {.namespace_ = "ml", .name = "name-" + uid, .uid = uid};
  refusal.message = message;
  refusal.details = details;
  return refusal;
}

}  // namespace

TEST_CASE("the last bound pods are noted, the last first, with the numbers of their decisions") {
  UiNotes notes({.bound = 2});
  for (const char* uid : {"a", "b", "c"}) notes.decided(bind_of(uid));
  CHECK(notes.decisions() == 3);
  CHECK(notes.last_bound(9).empty());  // none has come to the API server yet
  for (const char* uid : {"a", "c", "b"}) notes.bound(bind_of(uid), kNotedAt);
  const auto last = notes.last_bound(9);
  REQUIRE(last.size() == 2);
  CHECK(last[0].bind == bind_of("b"));
  CHECK(last[0].number == 2);
  CHECK(last[1].number == 3);
  CHECK(last[1].at == kNotedAt);
  CHECK(notes.last_bound(1).size() == 1);
}

TEST_CASE("a bind that failed is noted under the number of the decision that went through") {
  UiNotes notes;
  notes.decided(bind_of("a"));
  notes.decided(bind_of("a"));
  notes.bound(bind_of("a"), kNotedAt);
  REQUIRE(notes.last_bound(9).size() == 1);
  CHECK(notes.last_bound(9).front().number == 2);
  notes.bound(bind_of("a"), kNotedAt);
  CHECK(notes.last_bound(9).size() == 1);
}

TEST_CASE("of a pod that was bound lately it is known how its node was chosen") {
  UiNotes notes({.bound = 2});
  decision::Bind bind = bind_of("a");
  bind.total_score = 87;
  bind.feasible_nodes = 6;
  bind.all_nodes = 8;
  bind.attempts = 2;
  bind.queued_since = kNotedAt - std::chrono::seconds(4);
  bind.runner_up = {.node = "n2", .total_score = 84};
  notes.decided(bind);
  CHECK_FALSE(notes.chosen("a"));  // it has not come to the API server yet
  notes.bound(bind, kNotedAt);
  CHECK(notes.chosen("a") == answers::Chosen{.decision = 1,
                                             .at = kNotedAt,
                                             .score = 87,
                                             .fitting_nodes = 6,
                                             .all_nodes = 8,
                                             .attempts = 2,
                                             .waited = std::chrono::seconds(4),
                                             .runner_up = answers::Chosen::RunnerUp{"n2", 84}});
  CHECK_FALSE(notes.chosen("b"));
  for (const char* uid : {"b", "c"}) {
    notes.decided(bind_of(uid));
    notes.bound(bind_of(uid), kNotedAt);
  }
  CHECK_FALSE(notes.chosen("a"));
  CHECK_FALSE(notes.chosen("c")->runner_up);
}

TEST_CASE("why a pod waits is one sentence, until it has a node or is gone") {
  UiNotes notes;
  notes.decided(refusal_of("a", "0/8 nodes are available: 8 Insufficient nvidia.com/gpu.",
                           "nvidia.com/gpu: asked 8, 2 free. More is said."));
  notes.decided(refusal_of("b", "0/8 nodes are available: 8 Insufficient cpu."));
  auto by_quota = refusal_of("c", "quota q: H100 needs 1, 4 of 4 in use");
  by_quota.reason = Reason::kGpuQuotaExceeded;
  notes.decided(by_quota);
  CHECK(notes.refusal_of("a")->headline == "nvidia.com/gpu: asked 8, 2 free");
  CHECK(notes.refusal_of("a")->reason == Reason::kUnschedulable);
  CHECK(notes.refusal_of("b")->headline == "8 Insufficient cpu");
  CHECK(notes.refusal_of("c")->headline == "quota q: H100 needs 1, 4 of 4 in use");
  CHECK(notes.refusal_of("c")->reason == Reason::kGpuQuotaExceeded);
  CHECK(notes.decisions() == 3);

  notes.decided(bind_of("a"));
  notes.bound(bind_of("a"), kNotedAt);
  CHECK_FALSE(notes.refusal_of("a"));
  k8s::Pod placed = pod("b").on("n1");
  placed.metadata.uid = "b";
  notes.saw(placed);
  CHECK_FALSE(notes.refusal_of("b"));
  notes.gone("c");
  CHECK_FALSE(notes.refusal_of("c"));
}

TEST_CASE("of more refusals than are kept nothing is noted, and known ones stay up to date") {
  UiNotes notes({.refusals = 1});
  notes.decided(refusal_of("a", "first"));
  notes.decided(refusal_of("b", "too many"));
  CHECK_FALSE(notes.refusal_of("b"));
  notes.decided(refusal_of("a", "second"));
  CHECK(notes.refusal_of("a")->headline == "second");
}

TEST_CASE("of more open binds than are kept, and of pods that are gone, nothing is noted") {
  UiNotes notes({.open = 2});
  for (const char* uid : {"a", "b", "c"}) notes.decided(bind_of(uid));
  notes.gone("b");
  for (const char* uid : {"a", "b", "c"}) notes.bound(bind_of(uid), kNotedAt);
  REQUIRE(notes.last_bound(9).size() == 1);
  CHECK(notes.last_bound(9).front().bind.pod.uid == "a");
}

TEST_CASE("what is decided on a pod that is gone is not kept") {
  UiNotes notes({.refusals = 1, .open = 2});
  for (const char* uid : {"a", "b"}) {
    // The event loop sees first that the pod is gone, then what was decided.
    notes.gone(uid);
    notes.decided(refusal_of(uid, "no room"));
    CHECK(notes.refusal_of(uid));
    notes.waits_no_more(uid);
    CHECK_FALSE(notes.refusal_of(uid));
    notes.decided(bind_of(uid));
    notes.not_bound(uid, notes.decisions());
  }
  // An earlier bind of the pod does not end a later one.
  notes.decided(bind_of("c"));
  notes.decided(bind_of("c"));
  notes.not_bound("c", notes.decisions() - 1);
  notes.bound(bind_of("c"), kNotedAt);
  REQUIRE(notes.last_bound(9).size() == 1);
  CHECK(notes.last_bound(9).front().number == notes.decisions());
}

TEST_CASE("pods that have GPUs have names until they have finished or are gone") {
  UiNotes notes({.names = 2});
  const auto see = [&](const char* uid, tests::PodBuilder builder) {
    k8s::Pod seen = builder;
    seen.metadata.uid = uid;
    notes.saw(seen);
  };
  const auto ends = [&] {
    answers::Why why;
    for (const char* uid : {"gpu", "cpu", "done", "third"}) why.room.pods.push_back({uid, 1});
    notes.name_ends(why);
    return why.ends;
  };
  k8s::Container first = tests::container("first", {});
  first.limits = tests::resources({{"nvidia.com/gpu", "1"}});
  see("gpu", pod("train").in_namespace("ml").first_runs(first).on("n1"));
  see("cpu", pod("web").in_namespace("ml").on("n1"));
  see("done", pod("over").in_namespace("ml").gpus(1).on("n1"));
  see("third", pod("more").in_namespace("ml").gpus(1).on("n1"));
  CHECK(ends() ==
        std::vector<std::string>{"ml/train (1)", "uid cpu (1)", "ml/over (1)", "uid third (1)"});
  see("done", pod("over").in_namespace("ml").gpus(1).on("n1").finished());
  notes.gone("gpu");
  CHECK(ends() ==
        std::vector<std::string>{"uid gpu (1)", "uid cpu (1)", "uid done (1)", "uid third (1)"});
}

TEST_CASE("the history keeps the samples of a day, and no more") {
  History history;
  answers::Overview overview;
  for (std::size_t i = 0; i < History::kMost + 5; ++i) {
    overview.gpus.used = static_cast<std::int64_t>(i);
    overview.waiting.pods = i + 1;
    history.add(overview, kNotedAt + i * History::kInterval);
  }
  REQUIRE(history.samples().size() == History::kMost);
  CHECK(history.samples().front().gpus.used == 5);
  CHECK(history.samples().back().waiting_pods == static_cast<std::int64_t>(History::kMost + 5));
  history.add(overview, history.samples().back().at);
  CHECK(history.samples().size() == History::kMost);
  CHECK(history.samples().front().gpus.used == 5);
}

TEST_CASE("a pod for which others are evicted waits for that") {
  UiNotes notes;
  decision::Unschedulable by_quota = refusal_of("a", "quota team: H100 needs 1, 4 of 4 in use");
  by_quota.reason = Reason::kGpuQuotaExceeded;
  notes.decided(by_quota);
  decision::Evict evict;
  evict.pod = by_quota.pod;
  evict.message =
      "0/8 nodes are available: 8 Insufficient nvidia.com/gpu. preemption: found a potential "
      "placement for pod on node n1, preempting 2 victims";
  evict.details = "asked 4, free 1 of 8.";
  notes.decided(evict);
  CHECK(notes.decisions() == 2);
  REQUIRE(notes.refusal_of("a"));
  CHECK(notes.refusal_of("a")->headline ==
        "8 Insufficient nvidia.com/gpu. preemption: found a potential placement for pod on node "
        "n1, preempting 2 victims");
  CHECK(notes.refusal_of("a")->next == notes.refusal_of("a")->headline);
  CHECK(notes.refusal_of("a")->reason == Reason::kUnschedulable);
}
