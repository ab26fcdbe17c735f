// How often each account may ask: some questions at once, then one every so often.
//
// A token bucket for each account, stored as the time at which the bucket is full again. The number
// of stored buckets is bounded. If one more is needed, all full buckets are removed, because a full
// one need not be stored. If none is full, the one nearest to full is removed, because its account
// gains the least by that.
//
// The budget does not bound the engine's time; question_queue.h does, for all questions together.
// It keeps one account from using up that time, and from causing too many of the requests to the
// API server that questions cost.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

namespace sched::live {

// On one thread.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    int at_once = 10;
    std::chrono::milliseconds each{2'000};  // one question more
    std::size_t accounts = 1'024;
  };

  explicit Budget(Limits limits) : limits_(limits) {}

  // Takes one question from the account's budget. nullopt: the account may ask. Otherwise how long
  // it must wait; nothing is taken. O(1), or O(accounts) if the most buckets are stored.
  [[nodiscard]] std::optional<Clock::duration> take(const std::string& account,
                                                    Clock::time_point now);

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] std::size_t accounts() const { return full_at_.size(); }

 private:
  void make_room(Clock::time_point now);

  const Limits limits_;
  std::unordered_map<std::string, Clock::time_point> full_at_;
};

}  // namespace sched::live
