// Questions to the engine's thread from other threads, and the limit of the time that they may
// take.
//
// The cluster state belongs to that thread, so a question is a function of the engine, which the
// thread calls between two rounds of decisions and which may change nothing. The asker handles the
// answer (asker.h).
//
// The cost of a question is measured, not declared: the next question waits nine times as long as
// the last one took. So questions, O(1) or O(nodes), take a tenth of the thread's time, however
// many there are, and decisions have the rest. If nothing is to be decided, an event waits for at
// most one question. Questions are dropped if their answer is not needed any more.
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
  kTooMany,      // the asker, or the account, has its maximum of open questions
  kNotDeciding,  // the cluster state is not complete, or another replica leads
  kTooLate,      // its time was up before it was taken
  kEnded,        // the engine's thread has ended
};

struct Question {
  // One of the two is called, once, if the answer is still needed: on the engine's thread, or, with
  // kEnded, on the thread that asks or stops it.
  std::function<void(const Engine&)> answer;
  std::function<void(Unanswered)> refuse;
  // Whether the answer is still needed. Thread-safe.
  std::function<bool()> is_wanted;
};

// Thread-safe.
class QuestionQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // After close() the question is refused at once.
  void push(Question question);

  // The oldest question that is still needed; nullopt while questions must wait.
  [[nodiscard]] std::optional<Question> take(Clock::time_point now);
  // The question that was taken last has been answered, from `begin` to `end`.
  void answered(Clock::time_point begin, Clock::time_point end);
  // When take() may return one; nullopt: none waits.
  [[nodiscard]] std::optional<Clock::time_point> due() const;

  // Refuses all waiting questions.
  void close();

 private:
  // The parts of the thread's time for decisions, for each part for questions.
  static constexpr int kPartsForDecisions = 9;

  void drop_unwanted();

  mutable std::mutex mutex_;
  std::deque<Question> waiting_;
  Clock::time_point not_before_{};
  bool closed_ = false;
};

}  // namespace sched::live
