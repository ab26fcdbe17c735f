#include "scheduler/live/questions/question_queue.h"

#include <utility>

namespace sched::live {

void QuestionQueue::push(Question question) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      drop_unwanted();  // so that dropped questions do not pile up
      waiting_.push_back(std::move(question));
      return;
    }
  }
  question.refuse(Unanswered::kEnded);
}

std::optional<Question> QuestionQueue::take(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (now < not_before_) return std::nullopt;
  drop_unwanted();
  if (waiting_.empty()) return std::nullopt;
  Question oldest = std::move(waiting_.front());
  waiting_.pop_front();
  return oldest;
}

void QuestionQueue::answered(Clock::time_point begin, Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  not_before_ = end + kPartsForDecisions * (end - begin);
}

std::optional<QuestionQueue::Clock::time_point> QuestionQueue::due() const {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  return not_before_;
}

void QuestionQueue::close() {
  std::deque<Question> refused;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    drop_unwanted();
    refused = std::exchange(waiting_, {});
  }
  for (const Question& question : refused) question.refuse(Unanswered::kEnded);
}

void QuestionQueue::drop_unwanted() {
  std::erase_if(waiting_, [](const Question& question) { return !question.is_wanted(); });
}

}  // namespace sched::live
