// Questions to the engine's thread, from anybody, and how much of its time they may take.
//
// All that is known of the cluster belongs to that thread, so who wants to know something asks it:
// a question is a function of the engine, which the thread calls between two rounds of decisions
// and which may change nothing. What becomes of its answer is the asker's affair (asker.h).
//
// What a question costs is measured, not declared: the next one has to wait nine times as long as
// the last one took. So questions, O(1) or O(nodes), take a tenth of the thread's time, however
// many there are, and decisions have the rest; and where nothing is to be decided an event waits
// for one question at most. Those that nobody waits for any more are dropped.
#pragma once

#include "scheduler/engine/engine.h"

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace sched::live {

// Why a question has no answer.
enum class Unanswered {
  kTooMany,      // of this asker's, or of the account's, as many as may be are open already
  kNotDeciding,  // the cluster is not known yet, or another replica leads
  kTooLate,      // its time was up before its turn came
  kEnded,        // the engine's thread has ended
};

struct Question {
  // One of the two is called, once, unless nobody waits: on the engine's thread, or, with kEnded,
  // on the one that asks or stops it.
  std::function<void(const Engine&)> answer;
  std::function<void(Unanswered)> refuse;
  // Whether anybody still waits. Thread-safe.
  std::function<bool()> is_wanted;
};

// Thread-safe.
class QuestionQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // After close() it is refused at once.
  void push(Question question);

  // The oldest that is wanted; nothing while it is not the time for questions.
  [[nodiscard]] std::optional<Question> take(Clock::time_point now);
  // The one that was taken last has been answered, which took from `begin` to `end`.
  void answered(Clock::time_point begin, Clock::time_point end);
  // When take() may have one; nullopt: none waits.
  [[nodiscard]] std::optional<Clock::time_point> due() const;

  // Refuses all that wait.
  void close();

 private:
  // Of the thread's time, for each part that questions take.
  static constexpr int kPartsForDecisions = 9;

  void drop_unwanted();

  mutable std::mutex mutex_;
  std::deque<Question> waiting_;
  Clock::time_point not_before_{};
  bool closed_ = false;
};

}  // namespace sched::live
