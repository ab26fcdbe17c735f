#include "scheduler/live/writes/bind_queue.h"

#include <algorithm>
#include <utility>

namespace sched::live {

void BindQueue::push(BindGroup group, decision::Bind bind, TimePoint now) {
  std::deque<Waiting>& waiting = groups_[group].waiting;
  waiting.push_back({std::move(group), std::move(bind), now});
  ++size_;
}

void BindQueue::put_back(Waiting waiting) {
  std::deque<Waiting>& others = groups_[waiting.group].waiting;
  others.push_front(std::move(waiting));
  ++size_;
}

void BindQueue::clear() {
  size_ = 0;
  for (auto group = groups_.begin(); group != groups_.end();) {
    group->second.waiting.clear();
    forget_if_idle(group++);
  }
}

std::optional<BindQueue::Waiting> BindQueue::take() {
  if (size_ == 0 || open_ >= options_.max_open) return std::nullopt;
  // Groups that have max_open_of_one binds open come after all others.
  const auto turn = [this](const Group& group) {
    return std::pair(group.open >= options_.max_open_of_one, group.waiting.front().since);
  };
  auto first = groups_.end();
  for (auto group = groups_.begin(); group != groups_.end(); ++group) {
    if (group->second.waiting.empty() || !may_open(*group)) continue;
    if (first == groups_.end() || turn(group->second) < turn(first->second)) first = group;
  }
  if (first == groups_.end()) return std::nullopt;
  return pop(first->second);  // its call is about to be opened, so the group is not idle
}

std::vector<BindQueue::Stale> BindQueue::take_stale(TimePoint now) {
  std::vector<Stale> stale;
  for (auto next = groups_.begin(); next != groups_.end();) {
    const auto group = next++;
    const auto stuck = stuck_at(*group);
    for (std::size_t left = group->second.waiting.size(); left > 0; --left) {
      if (stale_at(*group) > now) break;
      stale.push_back({pop(group->second).bind, stuck && *stuck <= now});
    }
    forget_if_idle(group);
  }
  return stale;
}

bool BindQueue::has_room(const BindGroup& group) const {
  if (open_ >= options_.max_open) return false;
  const auto found = groups_.find(group);
  if (found == groups_.end()) return true;
  const bool others_wait = size_ > found->second.waiting.size();
  const std::size_t most = others_wait ? options_.max_open_of_one : options_.max_open_alone;
  return found->second.open < std::min(most, window(*found));
}

void BindQueue::opened(const BindGroup& group) {
  ++open_;
  ++groups_[group].open;
}

void BindQueue::answered(const BindGroup& group) {
  const auto found = groups_.find(group);
  --open_;
  --found->second.open;
  forget_if_idle(found);
}

void BindQueue::set_aside(const BindGroup& group, TimePoint now) {
  Group& found = groups_[group];
  ++found.aside;
  found.bound = 0;
  if (!found.none_bound_since) found.none_bound_since = now;
}

void BindQueue::settled(const BindGroup& group) {
  const auto found = groups_.find(group);
  if (--found->second.aside == 0) found->second.none_bound_since.reset();
  forget_if_idle(found);
}

void BindQueue::bound(const BindGroup& group) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  ++found->second.bound;
  found->second.none_bound_since.reset();
}

std::size_t BindQueue::window(const Groups::value_type& group) const {
  const auto& [name, state] = group;
  // A call that was put off is sent again even when all are open.
  const std::size_t share = (options_.max_open - std::min(open_, options_.max_open)) / 4;
  const bool fails = name.again || state.none_bound_since;
  return std::max({state.bound, share, std::size_t{fails ? 0U : 1U}});
}

bool BindQueue::may_open(const Groups::value_type& group) const {
  const Group& state = group.second;
  if (state.open >= std::min(options_.max_open_alone, window(group))) return false;
  return state.aside == 0 || state.aside + state.open < options_.max_aside_of_one;
}

// From when on the group's waiting decisions cannot be sent soon.
std::optional<BindQueue::TimePoint> BindQueue::stuck_at(const Groups::value_type& group) const {
  const Group& state = group.second;
  if (state.aside == 0 || may_open(group) || !state.none_bound_since) return std::nullopt;
  return *state.none_bound_since + options_.stuck_after;
}

// When the group's oldest decision becomes stale.
BindQueue::TimePoint BindQueue::stale_at(const Groups::value_type& group) const {
  const TimePoint since = group.second.waiting.front().since;
  const TimePoint stale = since + options_.stale_after;
  if (const auto stuck = stuck_at(group)) return std::min(stale, std::max(since, *stuck));
  return stale;
}

BindQueue::Waiting BindQueue::pop(Group& group) {
  Waiting waiting = std::move(group.waiting.front());
  group.waiting.pop_front();
  --size_;
  return waiting;
}

void BindQueue::forget_if_idle(Groups::iterator group) {
  const Group& what = group->second;
  if (what.waiting.empty() && what.open == 0 && what.aside == 0) groups_.erase(group);
}

}  // namespace sched::live
