// A recording of an engine at work, given to other policies.
#include "bench/replay/recording/with_policy.h"

#include "bench/policies/registry.h"
#include "bench/replay/recording/replay_recording.h"
#include "scheduler/config/config.h"
#include "tests/bench/replay/small_cluster.h"
#include "tests/support/catch.h"

using bench::replay::as_recorded;
using bench::replay::Policy;
using bench::replay::RecordedOutcome;
using bench::replay::RecordedPods;
using bench::replay::Recording;
using bench::replay::Result;
using bench::replay::with_policy;
namespace event = sched::event;

namespace {

// A live run as the shell would have recorded it: events, decisions, binds and what the watch shows
// of them, a millisecond apart.
class LiveRun {
 public:
  explicit LiveRun(const Policy& policy) {
    recording_.name = "live";
    recording_.header = {policy.file, policy.config};
    auto config = sched::config::parse(policy.config, policy.file, bench::registry());
    REQUIRE(config);
    name_ = config->profiles.front().scheduler_name;
    engine_.emplace(std::move(config->profiles), config->engine);
  }

  void has(const k8s::Node& node) { apply(event::NodeUpserted{node}); }
  void synced() { apply(event::Synced{}); }
  void gone(const std::string& uid) { apply(event::PodDeleted{{"default", uid, uid}}); }
  // A pod for the recorded scheduler.
  void submit(tests::PodBuilder pod) {
    pod.uid(pod.object().metadata.name).served_by(name_).created_at(now_);
    pods_[pod.object().metadata.uid] = pod;
    apply(event::PodUpserted{pod});
    decide();
  }
  void show(const k8s::Pod& pod) { apply(event::PodUpserted{pod}); }
  void decide() {
    while (true) {
      tick();
      auto decision = engine_->step(now_);
      recording_.calls.push_back(sched::live::StepCall{decision, now_});
      if (!decision) return;
      if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) settle(*bind);
    }
  }
  void wait(std::chrono::seconds time) { now_ += time; }
  [[nodiscard]] const Recording& recording() const { return recording_; }

 private:
  void tick() { now_ += std::chrono::milliseconds(1); }
  void apply(sched::Event what) {
    tick();
    engine_->apply(what, now_);
    recording_.calls.push_back(sched::live::AppliedCall{std::move(what), now_});
  }
  void settle(const sched::decision::Bind& bind) {
    apply(event::BindSucceeded{bind.pod, bind.node});
    k8s::Pod bound = pods_.at(bind.pod.uid);
    bound.spec.node_name = bind.node;
    bound.status.phase = k8s::PodPhase::kRunning;
    apply(event::PodUpserted{bound});
  }

  Recording recording_;
  std::string name_;
  std::optional<sched::Engine> engine_;
  std::map<std::string, k8s::Pod> pods_;
  sched::Time now_{std::chrono::seconds(1'767'225'600)};
};

struct Study {
  explicit Study(const LiveRun& run, const std::string& served = "packing")
      : recording(run.recording()),
        pods(recording, {served}),
        recorded(as_recorded(recording, pods, {})) {}

  [[nodiscard]] Result with(const Policy& policy) const {
    auto result = with_policy(recording, pods, recorded.placements, policy, bench::registry(), {});
    if (!result) FAIL(result.error().message);
    return *std::move(result);
  }

  const Recording& recording;
  RecordedPods pods;
  RecordedOutcome recorded;
};

// Two nodes of two GPUs; two pods of one GPU, then one of two.
LiveRun two_small_then_one_large(const Policy& policy) {
  LiveRun run(policy);
  run.has(tests::node("n1").gpus(2));
  run.has(tests::node("n2").gpus(2));
  run.synced();
  run.submit(tests::gpu_pod("a", 1));
  run.submit(tests::gpu_pod("b", 1));
  run.submit(tests::gpu_pod("large", 2));
  return run;
}

}  // namespace

TEST_CASE("the recorded policy does what was recorded") {
  LiveRun run = two_small_then_one_large(tests::packing());
  run.wait(std::chrono::seconds(10));
  run.gone("a");
  run.submit(tests::gpu_pod("c", 1));
  const Study study(run);
  CHECK(study.recorded.placements == std::vector<std::string>{"n1", "n1", "n2", "n1"});
  const Result again = study.with(tests::packing());
  CHECK(again.figures.at("moved_pods") == 0);
  CHECK(again.figures.at("gained_pods") == 0);
  CHECK(again.figures.at("lost_pods") == 0);
  CHECK(again.figures.at("placed_pods") == 4);
  CHECK(again.figures.at("allocated") ==
        Approx(study.recorded.result.figures.at("allocated")).margin(0.1));
}

TEST_CASE("another policy's decisions have their own consequences") {
  SECTION("spreading has no room for the large pod") {
    const LiveRun run = two_small_then_one_large(tests::packing());
    const Study study(run);
    const Result spread = study.with(tests::spreading());
    CHECK(spread.figures.at("moved_pods") == 1);
    CHECK(spread.figures.at("lost_pods") == 1);
    CHECK(spread.figures.at("gained_pods") == 0);
    REQUIRE(spread.refused.size() == 1);
    CHECK(spread.refused[0].example == "default/large");
  }
  SECTION("packing has, where spreading had none") {
    const LiveRun run = two_small_then_one_large(tests::spreading());
    const Study study(run, "spreading");
    CHECK(study.recorded.result.figures.at("waiting_pods") == 1);
    const Result pack = study.with(tests::packing());
    CHECK(pack.figures.at("moved_pods") == 1);
    CHECK(pack.figures.at("gained_pods") == 1);
    CHECK(pack.figures.at("lost_pods") == 0);
    CHECK(pack.refused.empty());
  }
}

TEST_CASE("pods of others, and those bound before, stay where they are") {
  LiveRun run(tests::packing());
  run.has(tests::node("n1").gpus(2));
  run.has(tests::node("n2").gpus(2));
  run.show(tests::gpu_pod("theirs", 2).uid("theirs").served_by("other").on("n1"));
  run.show(tests::gpu_pod("older", 1).uid("older").served_by("packing").on("n2"));
  run.show(tests::gpu_pod("unseen", 1).uid("unseen").served_by("other"));
  run.synced();
  run.submit(tests::gpu_pod("a", 1));
  const Study study(run);
  CHECK(study.pods.ours() == 1);
  const Result spread = study.with(tests::spreading());
  CHECK(spread.figures.at("moved_pods") == 0);
  CHECK(spread.figures.at("placed_pods") == 3);
  CHECK(spread.figures.at("waiting_pods") == 0);
}

TEST_CASE("pods hold their GPUs though they were recorded before their nodes") {
  LiveRun run(tests::packing());
  run.show(tests::gpu_pod("theirs", 2).uid("theirs").served_by("other").on("n1"));
  run.show(tests::gpu_pod("older", 1).uid("older").served_by("packing").on("n2"));
  run.has(tests::node("n1").gpus(2));
  run.has(tests::node("n2").gpus(2));
  run.synced();
  run.wait(std::chrono::seconds(1'000));
  run.submit(tests::gpu_pod("last", 1));
  const Study study(run);
  CHECK(study.recorded.result.figures.at("allocated") == Approx(75).margin(0.1));
  CHECK(study.with(tests::spreading()).figures.at("allocated") == Approx(75).margin(0.1));
}

TEST_CASE("another policy has the recorded labels of GPUs") {
  Policy of_site = tests::packing();
  of_site.config += "gpuLabels: {product: [example.com/accelerator]}\n";
  LiveRun run(of_site);
  run.has(tests::node("n1").gpus(2).labelled("example.com/accelerator", "H100"));
  run.synced();
  run.submit(tests::gpu_pod("a", 1).annotated("gpu-scheduler.io/gpu-type", "H100"));
  const Study study(run);
  const Result spread = study.with(tests::spreading());
  CHECK(spread.figures.at("placed_pods") == 1);
  CHECK(spread.figures.at("lost_pods") == 0);
  CHECK(spread.by_product.count("") == 0);  // the model is known
  Policy other_labels = tests::spreading();
  other_labels.config += "gpuLabels: {product: [example.com/other]}\n";
  CHECK(study.with(other_labels).figures.at("lost_pods") == 1);
}

TEST_CASE("another policy has the recorded settings of quotas, unless it has its own") {
  Policy of_site = tests::packing();
  of_site.config += "gpuQuota: {defaultQuota: None}\n";
  LiveRun run(of_site);
  run.has(tests::node("n1").gpus(2));
  run.synced();
  run.submit(tests::gpu_pod("a", 1));
  const Study study(run);
  CHECK(study.recorded.result.figures.at("placed_pods") == 0);
  CHECK(study.with(tests::spreading()).figures.at("gained_pods") == 0);
  Policy unlimited = tests::spreading();
  unlimited.config += "gpuQuota: {defaultQuota: Unlimited}\n";
  CHECK(study.with(unlimited).figures.at("gained_pods") == 1);
}

TEST_CASE("a bind that had failed succeeds with the other policy") {
  LiveRun run(tests::packing());
  run.has(tests::node("n1").gpus(1));
  run.synced();
  const k8s::Pod pod = tests::gpu_pod("a", 1).uid("a").served_by("packing");
  Recording recording = run.recording();
  sched::Time at = bench::replay::time_of(recording.calls.back());
  const auto call = [&](auto what) {
    at += std::chrono::milliseconds(1);
    recording.calls.push_back(sched::live::AppliedCall{std::move(what), at});
  };
  call(event::PodUpserted{pod});
  sched::decision::Bind bind;
  bind.pod = {"default", "a", "a"};
  bind.node = "n1";
  recording.calls.push_back(sched::live::StepCall{bind, at});
  call(event::BindFailed{{"default", "a", "a"}, "n1", "409 Conflict"});
  const RecordedPods pods(recording, {"packing"});
  const RecordedOutcome recorded = as_recorded(recording, pods, {});
  CHECK(recorded.result.figures.at("placed_pods") == 0);
  const auto result =
      with_policy(recording, pods, recorded.placements, tests::packing(), bench::registry(), {});
  REQUIRE(result);
  CHECK(result->figures.at("gained_pods") == 1);
}

TEST_CASE("a pod that is given up while it waits is gone") {
  LiveRun run(tests::packing());
  run.has(tests::node("n1").gpus(1));
  run.synced();
  run.submit(tests::gpu_pod("a", 1));
  run.submit(tests::gpu_pod("b", 1));
  run.wait(std::chrono::seconds(5));
  run.gone("b");
  run.gone("a");
  const Study study(run);
  const Result again = study.with(tests::packing());
  CHECK(again.figures.at("waiting_pods") == 0);
  CHECK(again.figures.at("placed_pods") == 1);
}

TEST_CASE("a recording that is cut ends there") {
  LiveRun run = two_small_then_one_large(tests::packing());
  run.wait(std::chrono::seconds(10));
  run.submit(tests::gpu_pod("late", 1));
  Recording recording = run.recording();
  bench::replay::cut(recording, std::chrono::seconds(5));
  const RecordedPods pods(recording, {"packing"});
  CHECK(pods.ours() == 3);
  CHECK(as_recorded(recording, pods, {}).result.figures.at("arrived_pods") == 3);
}
