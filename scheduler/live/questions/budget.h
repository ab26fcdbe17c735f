// How often each account may ask: some questions at once, then one every so often.
//
// A token bucket for each account, kept as the one moment at which it is full again. A bucket that
// is full need not be remembered, so accounts that ask seldom take no memory. The number of
// accounts is bounded; where one more comes, the bucket that is nearest to full is forgotten, which
// gives its account the least.
//
// It is not a share of the engine's time: that is bounded for all questions together
// (question_queue.h). It keeps one account from taking all of that, and the requests to
// the API server that a question costs.
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

  // The account asks. nullopt: it may; else how long it must wait, and nothing is taken. O(1); with
  // the most accounts there may be O(accounts).
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
