// The decisions that wait to be sent, and which is next.
//
// The oldest goes first, within limits: a namespace with binds that hang or fail, for example
// because of a webhook, must not delay those of others. So decisions are in groups; a namespace has
// one, or two (binder.h):
//
//   * At most `max_open` binds are open at a time, and at most `max_open_alone` of one group: the
//     rest is for other groups that come. While decisions of several groups wait, a group with
//     `max_open_of_one` open binds is passed over.
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
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sched::live {

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
    std::string group;
    decision::Bind bind;
    TimePoint since;
  };
  // A decision that was not sent in time.
  struct Stale {
    decision::Bind bind;
    bool stuck = false;  // because earlier binds of its group have no certain outcome
  };

  explicit BindQueue(Options options) : options_(options) {}

  void push(std::string group, decision::Bind bind, TimePoint now);
  // A decision that was taken, but not sent.
  void put_back(Waiting waiting);
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }

  // Takes the decision that may be sent now; nullopt: none may be. O(groups with decisions).
  [[nodiscard]] std::optional<Waiting> take();
  // Takes the decisions that have waited too long.
  [[nodiscard]] std::vector<Stale> take_stale(TimePoint now);

  // Whether a further call of a bind that was set aside may be sent now.
  [[nodiscard]] bool has_room(const std::string& group) const;

  // What happens to the binds of a group: a call was sent; it was answered; then its bind is set
  // aside; the outcome of a bind that was set aside is certain; a bind has succeeded.
  void opened(const std::string& group);
  void answered(const std::string& group);
  void set_aside(const std::string& group, TimePoint now);
  void settled(const std::string& group);
  void bound(const std::string& group);

 private:
  struct Group {
    std::deque<Waiting> waiting;  // oldest first
    std::size_t open = 0;
    std::size_t aside = 0;
    std::optional<TimePoint>
        none_bound_since;  // since when binds are aside without a success; nullopt: none is
  };
  using Groups = std::unordered_map<std::string, Group>;

  [[nodiscard]] bool may_open(const Group& group) const;
  [[nodiscard]] std::optional<TimePoint> stuck_at(const Group& group) const;
  [[nodiscard]] TimePoint stale_at(const Group& group) const;
  Waiting pop(Groups::iterator group);
  void forget_if_idle(Groups::iterator group);

  const Options options_;
  Groups groups_;  // those that are not empty
  std::size_t size_ = 0;
  std::size_t open_ = 0;
};

}  // namespace sched::live
