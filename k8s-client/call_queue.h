// The calls of a kind that wait to be sent, by namespace, and how many are open.
//
// Calls of one namespace may hang, for example because of a webhook, and must not delay those of
// others. So a namespace may have at most as many open calls as places are still free. A namespace
// that is alone gets half of the places. If the calls of n namespaces all hang, 1 / (n + 1) of the
// places are left to others. The namespaces take turns, and the calls of one keep their order. A
// namespace can be paused, for example after a call that failed. Source: Choudhury and Hahne,
// "Dynamic queue length thresholds for shared-memory packet switches", 1998.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace k8s {

template <typename Call>
class CallQueue {
 public:
  void push(const std::string& namespace_, Call call) {
    const auto which = of_.try_emplace(namespace_).first;
    if (which->second.waiting.empty() && !which->second.paused) turns_.push_back(which);
    which->second.waiting.push_back(std::move(call));
    ++waiting_;
  }
  // Before the others of its namespace; if none of these waits, it has the next turn.
  void push_first(const std::string& namespace_, Call call) {
    put_back(namespace_, std::move(call), [](const Call&) { return true; });
  }
  // A call that was taken goes back to its place: before the first one of its namespace that
  // `is_later`. If none of these waits, the namespace has the next turn.
  template <typename IsLater>
  void put_back(const std::string& namespace_, Call call, IsLater is_later) {
    const auto which = of_.try_emplace(namespace_).first;
    std::deque<Call>& waiting = which->second.waiting;
    if (waiting.empty() && !which->second.paused) turns_.push_front(which);
    waiting.insert(std::find_if(waiting.begin(), waiting.end(), is_later), std::move(call));
    ++waiting_;
  }
  // Removes the call if it waits. Returns whether other calls of its namespace wait or are open.
  // O(calls of the namespace that have waited longer).
  bool remove(const std::string& namespace_, const Call& call) {
    const auto which = of_.find(namespace_);
    if (which == of_.end()) return false;
    std::deque<Call>& waiting = which->second.waiting;
    if (const auto it = std::find(waiting.begin(), waiting.end(), call); it != waiting.end()) {
      waiting.erase(it);
      --waiting_;
      if (waiting.empty()) std::erase(turns_, which);
    }
    const bool is_left = !waiting.empty() || which->second.open > 0;
    forget_if_idle(which);
    return is_left;
  }
  // Takes a call that may be sent while at most `most` are open; nullopt: none may be. If it is
  // sent, opened() follows, and answered() later. O(namespaces with open calls).
  [[nodiscard]] std::optional<Call> take(std::size_t most) {
    return take_below(most - std::min(open_, most));
  }
  // The same while binds wait, which go first: at most two calls at a time, of different
  // namespaces, so that one that hangs does not delay other namespaces. Those that were sent before
  // do not count.
  [[nodiscard]] std::optional<Call> take_behind_binds() {
    return behind_binds_ < kMostBehindBinds ? take_below(1) : std::nullopt;
  }

  // None of its calls is taken until it is resumed.
  void pause(const std::string& namespace_) {
    const auto which = of_.try_emplace(namespace_).first;
    which->second.paused = true;
    std::erase(turns_, which);
  }
  // Returns whether calls of it wait.
  bool resume(const std::string& namespace_) {
    const auto which = of_.try_emplace(namespace_).first;
    const bool waits = !which->second.waiting.empty();
    if (std::exchange(which->second.paused, false) && waits) turns_.push_back(which);
    forget_if_idle(which);
    return waits;
  }

  // `behind_binds`: whether binds waited when the call was sent.
  void opened(const std::string& namespace_, bool behind_binds = false) {
    ++open_;
    behind_binds_ += behind_binds ? 1 : 0;
    ++of_[namespace_].open;
  }
  void answered(const std::string& namespace_, bool behind_binds = false) {
    --open_;
    behind_binds_ -= behind_binds ? 1 : 0;
    const auto which = of_.find(namespace_);
    --which->second.open;
    forget_if_idle(which);
  }
  // Of the calls that wait.
  void clear() {
    turns_.clear();
    waiting_ = 0;
    for (auto which = of_.begin(); which != of_.end();) {
      which->second.waiting.clear();
      forget_if_idle(which++);
    }
  }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::size_t open() const { return open_; }

 private:
  static constexpr std::size_t kMostBehindBinds = 2;

  struct OfOne {
    std::deque<Call> waiting;
    std::size_t open = 0;
    bool paused = false;
  };
  using Namespaces = std::map<std::string, OfOne>;

  // A call of a namespace with fewer than `most` open.
  std::optional<Call> take_below(std::size_t most) {
    const auto turn = std::find_if(turns_.begin(), turns_.end(),
                                   [&](const auto& which) { return which->second.open < most; });
    if (turn == turns_.end()) return std::nullopt;
    const auto which = *turn;
    turns_.erase(turn);
    std::deque<Call>& waiting = which->second.waiting;
    std::optional<Call> taken(std::move(waiting.front()));
    waiting.pop_front();
    --waiting_;
    if (!waiting.empty()) turns_.push_back(which);
    forget_if_idle(which);
    return taken;
  }

  void forget_if_idle(typename Namespaces::iterator which) {
    const OfOne& it = which->second;
    if (it.waiting.empty() && it.open == 0 && !it.paused) of_.erase(which);
  }

  Namespaces of_;                                    // those with calls that wait or are open
  std::deque<typename Namespaces::iterator> turns_;  // with calls that wait, the next first
  std::size_t waiting_ = 0;
  std::size_t open_ = 0;
  std::size_t behind_binds_ = 0;  // of these, sent while binds waited
};

}  // namespace k8s
