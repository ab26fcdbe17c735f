// The decisions that wait to be sent, and which is next.
//
// The oldest goes first, within limits: a namespace with binds that hang or fail, for example
// because of a webhook, must not delay those of others. So decisions are in groups; a namespace has
// one, or two (binder.h):
//
//   * At most `max_open` binds are open at a time, and at most `max_open_alone` of one group: the
//     rest is for other groups that come. While decisions of several groups wait, a group with
//     `max_open_of_one` open binds is passed over.
//   * A group may have as many binds open as it has had successes since the last one that was set
//     aside. Beyond these it gets a quarter of the calls that are not open, and at least one call
//     if none of its binds has failed. So binds that all hang, in n groups, leave 4 / (n + 4) of
//     the calls to others. Source: Choudhury and Hahne, "Dynamic queue length thresholds for
//     shared-memory packet switches", 1998.
//   * A bind whose call was answered, but not for certain, is *set aside*: it is no longer open. A
//     group with binds set aside sends new ones only while it has fewer than `max_aside_of_one` of
//     both kinds.
//   * A decision that has waited for `stale_after` is given back unsent: the cluster has changed
//     since, and the decision holds capacity that other pods could use. A decision is given back
//     at once if its group may send nothing and no bind of the group has succeeded for
//     `stuck_after`.
//
// Pure: time is an argument. It counts what the binder reports to it, and sends nothing.
#pragma once

#include "k8s-client/http/event_loop.h"
#include "scheduler/engine/decision.h"

#include <chrono>
#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sched::live {

struct BindGroup {
  std::string namespace_;
  bool again = false;  // of pods whose last attempt had no certain answer
  friend auto operator<=>(const BindGroup&, const BindGroup&) = default;
};

class BindQueue {
 public:
  using TimePoint = k8s::EventLoop::Clock::time_point;
  struct Options {
    std::size_t max_open = 40;
    std::size_t max_open_alone = 32;
    std::size_t max_open_of_one = 8;
    std::size_t max_aside_of_one = 12;
    std::chrono::milliseconds stale_after{3'000};
    std::chrono::milliseconds stuck_after{1'000};
  };
  struct Waiting {
    BindGroup group;
    decision::Bind bind;
    TimePoint since;
  };
  // A decision that was not sent in time.
  struct Stale {
    decision::Bind bind;
    bool stuck = false;  // because earlier binds of its group have no certain outcome
  };

  explicit BindQueue(Options options) : options_(options) {}

  void push(BindGroup group, decision::Bind bind, TimePoint now);
  // A decision that was taken, but not sent.
  void put_back(Waiting waiting);
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }

  // Takes the decision that may be sent now, which is then opened or put back; nullopt: none may
  // be. O(groups with decisions).
  [[nodiscard]] std::optional<Waiting> take();
  // Takes the decisions that have waited too long.
  [[nodiscard]] std::vector<Stale> take_stale(TimePoint now);

  // Whether a further call of a bind that was set aside may be sent now.
  [[nodiscard]] bool has_room(const BindGroup& group) const;

  // A call for a bind of the group was sent.
  void opened(const BindGroup& group);
  // A call that was sent is answered, or has reached its deadline.
  void answered(const BindGroup& group);
  // A bind of the group is set aside.
  void set_aside(const BindGroup& group, TimePoint now);
  // The outcome of a bind that was set aside is certain, or it returns to the queue.
  void settled(const BindGroup& group);
  // A bind of the group has succeeded.
  void bound(const BindGroup& group);

 private:
  struct Group {
    std::deque<Waiting> waiting;  // oldest first
    std::size_t open = 0;
    std::size_t aside = 0;
    std::size_t bound = 0;  // since the last one that was set aside
    std::optional<TimePoint>
        none_bound_since;  // since when binds are aside without a success; nullopt: none is
  };
  using Groups = std::map<BindGroup, Group>;

  [[nodiscard]] bool may_open(const Groups::value_type& group) const;
  // How many binds of the group may be open, by what became of its last ones.
  [[nodiscard]] std::size_t window(const Groups::value_type& group) const;
  [[nodiscard]] std::optional<TimePoint> stuck_at(const Groups::value_type& group) const;
  [[nodiscard]] TimePoint stale_at(const Groups::value_type& group) const;
  Waiting pop(Group& group);
  void forget_if_idle(Groups::iterator group);

  const Options options_;
  Groups groups_;  // those that are not empty
  std::size_t size_ = 0;
  std::size_t open_ = 0;
};

}  // namespace sched::live
