#include "bench/replay/recording/as_recorded.h"

#include "bench/replay/recording/account_of.h"
#include "scheduler/framework/node_view.h"

#include <utility>
#include <variant>

namespace bench::replay {
namespace {

namespace event = sched::event;

class Follower {
 public:
  Follower(const Recording& recording, const RecordedPods& pods,
           const std::vector<double>& snapshots_at, const sched::gpu::SiteLabels& site)
      : recording_(recording),
        pods_(pods),
        site_(site),
        account_(account_of(recording, pods, snapshots_at)),
        placements_(pods.size()) {}

  RecordedOutcome follow() {
    for (const auto& call : recording_.calls) {
      account_.advance(moment_of(time_of(call), recording_.begin()));
      if (const auto* applied = std::get_if<sched::live::AppliedCall>(&call)) {
        std::visit([this](const auto& what) { on(what); }, applied->event);
      } else if (const auto* step = std::get_if<sched::live::StepCall>(&call)) {
        on(*step);
      }
    }
    Result result = account_.result();
    result.policy = "recorded";
    result.decisions = decisions_;
    return {std::move(result), std::move(placements_)};
  }

 private:
  template <typename Other>
  void on(const Other&) {}
  void on(const event::NodeUpserted& e) {
    account_.node_upserted(sched::facts_of(e.object, names_, site_));
  }
  void on(const event::NodeDeleted& e) { account_.node_gone(e.name); }
  void on(const event::PodDeleted& e) { left(e.pod.uid); }
  void on(const event::BindSucceeded& e) {
    if (const auto number = pods_.number_of(e.pod.uid)) placed(*number, e.node);
  }
  void on(const event::PodUpserted& e) {
    const std::size_t number = *pods_.number_of(e.object.metadata.uid);
    if (e.object.is_finished()) return account_.left(number);
    const std::string& node = e.object.spec.node_name;
    if (pods_[number].ours) {
      if (account_.is_new(number)) account_.came(number, pods_[number].kind);
      if (!node.empty()) placed(number, node);
    } else if (!node.empty() && account_.is_new(number)) {
      account_.came(number, pods_[number].kind);
      account_.was_there(number, node);
    }
  }
  void on(const sched::live::StepCall& step) {
    if (!step.decision) return;
    ++decisions_;
    const auto* no = std::get_if<sched::decision::Unschedulable>(&*step.decision);
    if (no == nullptr) return;
    const auto number = pods_.number_of(no->pod.uid);
    if (number && account_.is_waiting(*number)) {
      account_.waits(*number, no->message, no->details);
    }
  }

  void placed(std::size_t number, const std::string& node) {
    if (!account_.is_waiting(number)) return;
    account_.placed(number, node, {});
    placements_[number] = node;
  }
  void left(const std::string& uid) {
    if (const auto number = pods_.number_of(uid)) account_.left(*number);
  }

  const Recording& recording_;
  const RecordedPods& pods_;
  const sched::gpu::SiteLabels& site_;
  sched::ResourceNames names_;
  Account account_;
  Placements placements_;
  std::size_t decisions_ = 0;
};

}  // namespace

RecordedOutcome as_recorded(const Recording& recording, const RecordedPods& pods,
                            const std::vector<double>& snapshots_at,
                            const sched::gpu::SiteLabels& site) {
  return Follower(recording, pods, snapshots_at, site).follow();
}

}  // namespace bench::replay
