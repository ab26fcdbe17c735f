// Which replica leads, by the last known state of the lease. A replica that does not lead names the
// leader when it refuses a question.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace sched::live {

// Thread-safe.
class LeaderName {
 public:
  // The lease's holder identity, "NAME_UUID"; empty: it has no holder.
  void is(std::string identity) {
    const std::lock_guard lock(mutex_);
    identity_ = std::move(identity);
  }
  // Empty: there is no leader, or it is not known.
  [[nodiscard]] std::string get() const {
    const std::lock_guard lock(mutex_);
    return identity_;
  }

 private:
  mutable std::mutex mutex_;
  std::string identity_;
};

}  // namespace sched::live
