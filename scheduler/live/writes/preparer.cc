#include "scheduler/live/writes/preparer.h"

#include "scheduler/live/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace sched::live {
namespace {

std::string text_of(const ObjectWrite& write) {
  if (const auto* select = std::get_if<SelectNode>(&write)) {
    return fmt::format("selecting node {} for claim {}", select->node, select->claim.name);
  }
  const auto& reserve = std::get<ReserveVolume>(write);
  return fmt::format("binding volume {} to claim {}", reserve.volume.name, reserve.claim.name);
}

}  // namespace

void Preparer::prepare(decision::Prepare decision) {
  if (decision.writes.empty()) return end({std::move(decision)}, {});
  if (!hooks_.waits(decision.pod.uid)) return hooks_.on_forgotten(decision.plan);
  const auto task = std::make_shared<Task>(Task{std::move(decision)});
  tasks_.emplace(task->decision.pod.uid, task);
  queue_.push(namespace_of(task), task);
  send_more();
}

void Preparer::forget(const std::string& uid) {
  const auto [begin, end] = tasks_.equal_range(uid);
  for (auto each = begin; each != end; ++each) {
    each->second->forgotten = true;
    hooks_.on_forgotten(each->second->decision.plan);
  }
  tasks_.erase(begin, end);
}

void Preparer::stop() {
  stopped_ = true;
  queue_.clear();
}

void Preparer::send_more() {
  while (!stopped_ && hooks_.may_send()) {
    const auto task = queue_.take(kMostOpen);
    if (!task) return;
    if (!(*task)->forgotten) send(*task);
  }
}

void Preparer::send(const TaskPtr& task) {
  queue_.opened(namespace_of(task));
  auto done = [this, alive = alive_, task](const k8s::Result<void>& result) {
    if (*alive) on_answer(task, result);
  };
  const ObjectWrite& write = task->decision.writes[task->next];
  if (const auto* select = std::get_if<SelectNode>(&write)) {
    calls_.select_node(*select, std::move(done));
  } else {
    calls_.reserve_volume(std::get<ReserveVolume>(write), std::move(done));
  }
}

void Preparer::on_answer(const TaskPtr& task, const k8s::Result<void>& result) {
  queue_.answered(namespace_of(task));
  const ObjectWrite& write = task->decision.writes[task->next];
  // It waited for a connection until it was too late to send it. It may be sent again by now.
  const bool is_closed = !result && result.error().kind != k8s::ErrorKind::kStatus &&
                         !result.error().may_have_acted && !hooks_.may_send();
  const bool was_late = is_closed || (!result && result.error().too_late);
  if (task->forgotten) {
    // What was written stays.
  } else if (was_late) {
    queue_.push_first(namespace_of(task), task);
  } else if (!result) {
    finish(task, fmt::format("{} failed: {}", text_of(write), result.error().message));
  } else if (++task->next == task->decision.writes.size()) {
    finish(task, {});
  } else {
    // Before other plans of its namespace: a plan that has begun does not wait for them.
    queue_.push_first(namespace_of(task), task);
  }
  send_more();
}

void Preparer::finish(const TaskPtr& task, std::string failure) {
  const auto [begin, end_of_pod] = tasks_.equal_range(task->decision.pod.uid);
  tasks_.erase(
      std::find_if(begin, end_of_pod, [&](const auto& each) { return each.second == task; }));
  end(*task, std::move(failure));
}

void Preparer::end(const Task& task, std::string failure) {
  LogLine("prepared")
      .with("pod", task.decision.pod.namespace_ + "/" + task.decision.pod.name)
      .with("uid", task.decision.pod.uid)
      .with("node", task.decision.node)
      .with("writes", task.next)
      .with("failure", failure)
      .debug();
  if (!stopped_) hooks_.on_outcome(task.decision.plan, std::move(failure));
}

}  // namespace sched::live
