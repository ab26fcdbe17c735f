#include "bench/replay/account/group_uses.h"

#include "scheduler/gpu/devices.h"

namespace bench::replay {

void GroupUses::Group::advance(Moment now) {
  over_time += static_cast<double>(allocated) * static_cast<double>((now - since).count());
  since = now;
}

GroupUses::Group& GroupUses::group(const std::string& name) {
  const auto [found, is_new] = groups_.try_emplace(name);
  if (is_new) found->second.since = window_begin_;
  return found->second;
}

void GroupUses::came(const std::string& name, std::int64_t gpu_milli) {
  GroupUse& use = group(name).use;
  ++use.pods;
  use.asked += static_cast<double>(gpu_milli);
}

void GroupUses::placed(const std::string& name, std::int64_t gpu_milli, Moment now, bool counts) {
  Group& of = group(name);
  of.advance(now);
  of.allocated += gpu_milli;
  if (counts) ++of.use.placed;
}

void GroupUses::left(const std::string& name, std::int64_t gpu_milli, Moment now) {
  Group& of = group(name);
  of.advance(now);
  of.allocated -= gpu_milli;
}

void GroupUses::begin_window(Moment now) {
  window_begin_ = now;
  for (auto& [name, of] : groups_) {
    of.over_time = 0;
    of.since = now;
  }
}

std::map<std::string, GroupUse> GroupUses::now() const {
  std::map<std::string, GroupUse> uses;
  for (const auto& [name, of] : groups_) {
    uses.emplace(name, result(of, static_cast<double>(of.allocated)));
  }
  return uses;
}

std::map<std::string, GroupUse> GroupUses::average_until(Moment now) const {
  std::map<std::string, GroupUse> uses;
  const auto window = static_cast<double>((now - window_begin_).count());
  for (const auto& [name, of] : groups_) {
    Group copy = of;
    copy.advance(now);
    uses.emplace(name, result(copy, window > 0 ? copy.over_time / window : 0));
  }
  return uses;
}

GroupUse GroupUses::result(const Group& group, double allocated) {
  GroupUse use = group.use;
  use.asked /= sched::gpu::kMilliPerGpu;
  use.allocated = allocated / sched::gpu::kMilliPerGpu;
  return use;
}

}  // namespace bench::replay
