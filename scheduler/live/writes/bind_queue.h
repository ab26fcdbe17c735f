// The decisions that wait to be sent, and whose turn it is.
//
// The oldest goes first, within limits: a namespace whose binds hang or fail, behind a webhook for
// instance, must not delay those of others. So decisions stand in groups; a namespace has one, or
// two (binder.h):
//
//   * At most `max_open` binds are open at a time, of one group `max_open_alone`: the rest is for
//     others that come. While decisions of several groups wait, a group that has `max_open_of_one`
//     open is passed over.
//   * A bind whose call was answered, but not for certain, is *set aside*: it is open no more. A
//     group that has some set aside sends new ones only while it has fewer than `max_aside_of_one`
//     of both kinds.
//   * What has waited for `stale_after` is given back unsent: it was decided on a cluster that has
//     changed since, and holds capacity that other pods could use. What waits in a group that may
//     send nothing, and none of whose binds has gone through for `stuck_after`, is given back at
//     once.
//
// Pure: time is passed in. It counts what the binder tells it, and sends nothing.
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
    bool stuck = false;  // since the binds of its group before it have no certain outcome
  };

  explicit BindQueue(Options options) : options_(options) {}

  void push(std::string group, decision::Bind bind, TimePoint now);
  // It was taken, and not sent after all.
  void put_back(Waiting waiting);
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }

  // Takes the decision that may be sent now; nullopt: none may. O(groups with decisions).
  [[nodiscard]] std::optional<Waiting> take();
  // Takes those that waited too long.
  [[nodiscard]] std::vector<Stale> take_stale(TimePoint now);

  // A further call of a bind that was set aside may go now.
  [[nodiscard]] bool has_room(const std::string& group) const;

  // What becomes of the binds of a group: a call was sent; it was answered; its bind is set aside,
  // after that; the outcome of one that is set aside is certain; one has gone through.
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
    std::optional<TimePoint> none_bound_since;  // of those aside the first; nullopt: there is none
  };
  using Groups = std::unordered_map<std::string, Group>;

  [[nodiscard]] bool may_open(const Group& group) const;
  [[nodiscard]] std::optional<TimePoint> stuck_at(const Group& group) const;
  [[nodiscard]] TimePoint stale_at(const Group& group) const;
  Waiting pop(Groups::iterator group);
  void forget_if_idle(Groups::iterator group);

  const Options options_;
  Groups groups_;  // those with anything in them
  std::size_t size_ = 0;
  std::size_t open_ = 0;
};

}  // namespace sched::live
