#include "bench/replay/run/virtual_run.h"

#include "scheduler/framework/pod_shape.h"

#include <algorithm>
#include <charconv>
#include <variant>

namespace bench::replay {
namespace {

std::size_t number_of(const sched::PodRef& pod) {
  std::size_t number = 0;
  std::from_chars(pod.uid.data(), pod.uid.data() + pod.uid.size(), number);
  return number;
}

}  // namespace

bool is_over_time(const Workload& workload) {
  return workload.ends || std::any_of(workload.arrivals.begin(), workload.arrivals.end(),
                                      [](const Arrival& arrival) { return !!arrival.leaves; });
}

double in_hours(Moment moment) {
  return std::chrono::duration<double, std::ratio<3'600>>(moment).count();
}

VirtualRun::VirtualRun(const Parts& parts)
    : parts_(parts), over_time_(is_over_time(parts.workload)) {
  const auto& pods = parts.trace.pods;
  kinds_.reserve(pods.size());
  for (std::size_t i = 0; i < pods.size(); ++i) {
    kinds_.push_back(
        kind_of(pods[i].pod, sched::shape_of(pods[i].pod, names_), parts.trace.devices_apart));
    if (pods[i].bound_to_start_with) start_pods_.push_back(i);
  }
  came_.resize(pods.size());
  time_.resize(parts.workload.arrivals.size() + start_pods_.size());
}

bool VirtualRun::run() {
  begin();
  const auto end = end_of_time();
  // A given time passes as a whole, even if nothing happens; else the last event ends it.
  bool passes = parts_.workload.ends.has_value();
  while (const auto moment = next_moment()) {
    if (parts_.options.stop != nullptr && *parts_.options.stop) return false;
    if (end && *moment > *end) {
      passes = true;
      break;
    }
    if (parts_.quotas != nullptr && over_time_) {
      parts_.quotas->holds(progress(), in_hours(*moment), parts_.engine);
    }
    now_ = *moment;
    parts_.account.advance(now_);
    depart();
    arrive();
    decide();
    if (parts_.quotas != nullptr) parts_.quotas->advance(progress(), parts_.engine);
  }
  if (parts_.quotas != nullptr) parts_.quotas->finish(progress(), parts_.engine);
  if (passes) parts_.account.advance(*end);
  return true;
}

double VirtualRun::progress() const {
  return over_time_ ? in_hours(now_) : static_cast<double>(next_arrival_);
}

std::optional<Moment> VirtualRun::end_of_time() const {
  const auto& until = parts_.options.until;
  const auto& ends = parts_.workload.ends;
  return until && ends ? std::min(*until, *ends) : until ? until : ends;
}

std::optional<Moment> VirtualRun::next_moment() const {
  std::optional<Moment> next;
  if (next_arrival_ < parts_.workload.arrivals.size()) {
    next = parts_.workload.arrivals[next_arrival_].at;
  }
  if (!departures_.empty()) next = std::min(departures_.top().at, next.value_or(Moment::max()));
  if (!next) return std::nullopt;
  // The engine may have to be called in between. If no event will come it is not called: what does
  // not fit now never will.
  if (const auto wakeup = parts_.engine.next_wakeup()) {
    const auto at = std::chrono::ceil<Moment>(wakeup->time_since_epoch());
    next = std::min(*next, std::max(at, now_));
  }
  return next;
}

void VirtualRun::begin() {
  if (parts_.options.quotas != nullptr) {
    for (const k8s::GpuQuota& quota : *parts_.options.quotas) {
      apply(sched::event::QuotaUpserted{quota});
    }
    for (k8s::Namespace& each : namespaces_of(parts_.trace)) {
      apply(sched::event::NamespaceUpserted{std::move(each)});
    }
  }
  for (const k8s::Node& node : parts_.trace.nodes) {
    parts_.account.node_upserted(sched::facts_of(node, names_, parts_.site_labels));
    apply(sched::event::NodeUpserted{node});
  }
  for (std::size_t i = 0; i < start_pods_.size(); ++i) {
    was_there(parts_.workload.arrivals.size() + i);
  }
  apply(sched::event::Synced{});
}

void VirtualRun::was_there(Number number) {
  const TracePod& pod = parts_.trace.pods[trace_pod(number)];
  k8s::Pod there = pod.pod;
  there.metadata.uid = ref(number).uid;
  parts_.account.came(number, kind(number));
  parts_.account.was_there(number, there.spec.node_name);
  apply(sched::event::PodUpserted{std::move(there)});
  if (pod.deleted && over_time_) departures_.push({*pod.deleted, number});
}

void VirtualRun::depart() {
  while (!departures_.empty() && departures_.top().at <= now_) {
    const Number number = departures_.top().pod;
    departures_.pop();
    parts_.account.left(number);
    apply(sched::event::PodDeleted{ref(number)});
  }
  // What has become free goes to waiting pods before new pods come.
  if (!refuses()) decide();
}

void VirtualRun::arrive() {
  const auto& arrivals = parts_.workload.arrivals;
  while (next_arrival_ < arrivals.size() && arrivals[next_arrival_].at <= now_) {
    arrive(next_arrival_++);
  }
}

void VirtualRun::arrive(Number number) {
  time_[number] = came_[trace_pod(number)]++;
  parts_.account.came(number, kind(number));
  apply(sched::event::PodUpserted{object(number)});
  if (!refuses()) return;
  decide();
  if (parts_.account.is_waiting(number)) {
    turn_away(number, "never decided on, such as pods with scheduling gates are", "");
  }
}

void VirtualRun::decide() {
  while (const auto decision = parts_.engine.step(time())) {
    if (const auto* bind = std::get_if<sched::decision::Bind>(&*decision)) carry_out(*bind);
    if (const auto* no = std::get_if<sched::decision::Unschedulable>(&*decision)) carry_out(*no);
  }
}

void VirtualRun::carry_out(const sched::decision::Bind& bind) {
  ++decisions_;
  const Number number = number_of(bind.pod);
  apply(sched::event::BindSucceeded{bind.pod, bind.node});
  parts_.account.placed(number, bind.node, bind.devices);
  const Arrival& arrival = parts_.workload.arrivals[number];
  if (arrival.leaves) departures_.push({now_ + (*arrival.leaves - arrival.at), number});
  if (parts_.log == nullptr) return;
  parts_.log->bound(now_, kind(number), bind,
                    parts_.engine.candidates(object(number), DecisionLog::kCandidates));
}

void VirtualRun::carry_out(const sched::decision::Unschedulable& decision) {
  ++decisions_;
  const Number number = number_of(decision.pod);
  if (parts_.log != nullptr) parts_.log->refused(now_, kind(number), decision);
  if (refuses()) {
    turn_away(number, decision.message, decision.details);
  } else {
    parts_.account.waits(number, decision.message, decision.details);
  }
}

void VirtualRun::turn_away(Number number, const std::string& message, const std::string& details) {
  parts_.account.refused(number, message, details);
  apply(sched::event::PodDeleted{ref(number)});
}

std::size_t VirtualRun::trace_pod(Number number) const {
  const auto& arrivals = parts_.workload.arrivals;
  return number < arrivals.size() ? arrivals[number].pod : start_pods_[number - arrivals.size()];
}

sched::PodRef VirtualRun::ref(Number number) const {
  const k8s::ObjectMeta& metadata = parts_.trace.pods[trace_pod(number)].pod.metadata;
  const std::uint32_t time = time_[number];
  return {.namespace_ = metadata.namespace_,
          .name = time == 0 ? metadata.name : metadata.name + '.' + std::to_string(time),
          .uid = std::to_string(number)};
}

k8s::Pod VirtualRun::object(Number number) const {
  k8s::Pod pod = parts_.trace.pods[trace_pod(number)].pod;
  sched::PodRef self = ref(number);
  pod.metadata.name = std::move(self.name);
  pod.metadata.uid = std::move(self.uid);
  pod.metadata.creation_timestamp = time();
  pod.metadata.deletion_timestamp.reset();
  pod.spec.scheduler_name = parts_.scheduler_name;
  pod.spec.node_name.clear();
  pod.status = {};
  return pod;
}

void VirtualRun::apply(const sched::Event& event) { parts_.engine.apply(event, time()); }

sched::Time VirtualRun::time() const { return sched::Time{now_}; }

}  // namespace bench::replay
