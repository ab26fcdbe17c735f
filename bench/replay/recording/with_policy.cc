#include "bench/replay/recording/with_policy.h"

#include "bench/replay/recording/account_of.h"
#include "bench/replay/recording/site_settings.h"
#include "bench/replay/run/cpu_clock.h"
#include "bench/replay/run/decision_log.h"
#include "scheduler/engine/engine.h"
#include "scheduler/framework/node_view.h"

#include <optional>
#include <utility>
#include <variant>

namespace bench::replay {
namespace {

namespace event = sched::event;

class Retelling {
 public:
  struct Parts {
    const Recording& recording;
    const RecordedPods& pods;
    std::string scheduler_name;
    sched::gpu::SiteLabels site_labels;
    sched::Engine engine;
    DecisionLog* log = nullptr;  // may be null
    const RunOptions& options;
  };
  explicit Retelling(Parts parts)
      : parts_(std::move(parts)),
        account_(account_of(parts_.recording, parts_.pods, parts_.options.snapshots_at)),
        latest_(parts_.pods.size()),
        placements_(parts_.pods.size()) {}

  // False if it was stopped before the end.
  bool tell() {
    for (const auto& call : parts_.recording.calls) {
      if (parts_.options.stop != nullptr && *parts_.options.stop) return false;
      at(time_of(call));
      if (const auto* applied = std::get_if<sched::live::AppliedCall>(&call)) {
        std::visit([this](const auto& what) { on(what); }, applied->event);
      } else if (const auto* step = std::get_if<sched::live::StepCall>(&call)) {
        repeat(*step);
      }
    }
    while (decide()) {
    }
    return true;
  }

  [[nodiscard]] Result result() const { return account_.result(); }
  [[nodiscard]] const Placements& placements() const { return placements_; }
  [[nodiscard]] std::size_t decisions() const { return decisions_; }

 private:
  void repeat(const sched::live::StepCall& step) {
    if (step.decision) return static_cast<void>(decide());
    while (decide()) {
    }
  }

  template <typename Other>
  void on(const Other& other) {
    apply(other);
  }
  void on(const event::Prepared&) {}
  void on(const event::BindSucceeded&) {}
  void on(const event::BindFailed&) {}
  void on(const event::NodeUpserted& e) {
    account_.node_upserted(sched::facts_of(e.object, names_, parts_.site_labels));
    apply(e);
  }
  void on(const event::NodeDeleted& e) {
    account_.node_gone(e.name);
    apply(e);
  }
  void on(const event::PodDeleted& e) {
    if (const auto number = parts_.pods.number_of(e.pod.uid)) account_.left(*number);
    apply(e);
  }
  void on(const event::PodUpserted& e) {
    const std::size_t number = *parts_.pods.number_of(e.object.metadata.uid);
    if (e.object.is_finished()) {
      account_.left(number);
      apply(e);
    } else if (parts_.pods[number].ours) {
      retell(number, e.object);
    } else if (!e.object.spec.node_name.empty()) {
      there(number, e);
    }
  }

  void there(std::size_t number, const event::PodUpserted& e) {
    if (account_.is_new(number)) {
      account_.came(number, parts_.pods[number].kind);
      account_.was_there(number, e.object.spec.node_name);
    }
    apply(e);
  }

  void retell(std::size_t number, k8s::Pod pod) {
    if (account_.is_new(number)) account_.came(number, parts_.pods[number].kind);
    pod.spec.scheduler_name = parts_.scheduler_name;
    pod.spec.node_name.clear();
    if (account_.is_placed(number)) pod.spec.node_name = placements_[number];
    pod.status.phase = k8s::PodPhase::kPending;
    // Deleted while it waits: nothing must end first.
    if (pod.is_terminating() && account_.is_waiting(number)) account_.left(number);
    latest_[number] = pod;
    apply(event::PodUpserted{std::move(pod)});
  }

  bool decide() {
    const auto decision = parts_.engine.step(now_);
    if (!decision) return false;
    if (!std::holds_alternative<sched::decision::NodeComplaint>(*decision)) ++decisions_;
    if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) place(*bind);
    if (const auto* no = std::get_if<sched::decision::Unschedulable>(&*decision)) wait(*no);
    // The recording has the times when claims are bound, whatever node they were bound for.
    if (const auto* prepare = std::get_if<sched::decision::Prepare>(&*decision)) {
      apply(event::Prepared{.plan = prepare->plan});
    }
    return true;
  }
  void place(const sched::decision::Bind& bind) {
    const std::size_t number = *parts_.pods.number_of(bind.pod.uid);
    apply(event::BindSucceeded{bind.pod, bind.node});
    account_.placed(number, bind.node, bind.devices);
    placements_[number] = bind.node;
    if (parts_.log == nullptr) return;
    parts_.log->bound(moment(), parts_.pods[number].kind, bind,
                      parts_.engine.candidates(latest_[number], DecisionLog::kCandidates));
  }
  void wait(const sched::decision::Unschedulable& no) {
    const std::size_t number = *parts_.pods.number_of(no.pod.uid);
    account_.waits(number, no.message, no.details);
    if (parts_.log != nullptr) parts_.log->refused(moment(), parts_.pods[number].kind, no);
  }

  void at(sched::Time now) {
    now_ = now;
    account_.advance(moment());
  }
  void apply(const sched::Event& event) { parts_.engine.apply(event, now_); }
  [[nodiscard]] Moment moment() const { return moment_of(now_, parts_.recording.begin()); }

  Parts parts_;
  sched::ResourceNames names_;
  Account account_;
  std::vector<k8s::Pod> latest_;  // of the pods that are decided again, the last state
  Placements placements_;
  sched::Time now_{};
  std::size_t decisions_ = 0;
};

void add_differences(Result& result, const RecordedPods& pods, const Placements& recorded,
                     const Placements& now) {
  double moved = 0;
  double gained = 0;
  double lost = 0;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (!pods[i].ours || recorded[i] == now[i]) continue;
    if (recorded[i].empty()) {
      ++gained;
    } else if (now[i].empty()) {
      ++lost;
    } else {
      ++moved;
    }
  }
  result.figures["moved_pods"] = moved;
  result.figures["gained_pods"] = gained;
  result.figures["lost_pods"] = lost;
}

}  // namespace

k8s::Result<Result> with_policy(const Recording& recording, const RecordedPods& pods,
                                const Placements& recorded, const Policy& policy,
                                const sched::Registry& registry, const RunOptions& options) {
  const double begin = cpu_seconds();
  auto config = configure(policy, registry, options.seed);
  if (!config) return tl::unexpected<k8s::Error>(std::move(config.error()));
  if (auto taken = take_site_settings(recording.header, policy, registry, *config); !taken) {
    return tl::unexpected<k8s::Error>(std::move(taken.error()));
  }
  const sched::Profile& profile = config->profiles.front();
  const std::string scheduler_name = profile.scheduler_name;
  const auto tie_break = profile.tie_break.order;
  if (options.typical_pods == TypicalPods::kTrace) config->engine.typical_pods = pods.kinds();

  std::optional<DecisionLog> log;
  if (options.decisions != nullptr) {
    log.emplace(*options.decisions, recording.name, policy.name, options.seed);
  }
  Retelling retelling({.recording = recording,
                       .pods = pods,
                       .scheduler_name = scheduler_name,
                       .site_labels = config->engine.site_labels,
                       .engine = sched::Engine(std::move(config->profiles), config->engine),
                       .log = log ? &*log : nullptr,
                       .options = options});
  const bool finished = retelling.tell();
  Result result = retelling.result();
  add_differences(result, pods, recorded, retelling.placements());
  result.policy = policy.name;
  result.tie_break = text_of(tie_break);
  result.seed = options.seed;
  result.interrupted = !finished;
  result.decisions = retelling.decisions();
  result.seconds = cpu_seconds() - begin;
  return result;
}

}  // namespace bench::replay
