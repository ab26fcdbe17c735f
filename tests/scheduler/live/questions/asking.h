// Asks a page that puts questions to the engine. A double of the engine's thread: it answers when
// the test says so.
#pragma once

#include "scheduler/engine/engine.h"
#include "scheduler/live/questions/question_queue.h"
#include "scheduler/server/http_server.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tests {

class Asking {
 public:
  using Question = sched::live::Question;
  using Unanswered = sched::live::Unanswered;
  using Reply = sched::server::Reply;

  // Where the next reply goes.
  std::function<void(Reply)> next_reply() {
    replies.emplace_back();
    return [&to = replies.back()](Reply reply) {
      REQUIRE_FALSE(to);
      to = std::move(reply);
    };
  }
  // The engine's thread answers all questions, or refuses them.
  void answer_by(const sched::Engine& engine, std::optional<Unanswered> why) {
    for (const Question& question : std::exchange(put, {})) {
      if (why) {
        question.refuse(*why);
      } else if (question.is_wanted()) {
        question.answer(engine);
      }
    }
    loop.run_ready();
  }
  // The same; returns the reply to the last question.
  Reply reply_by(const sched::Engine& engine, std::optional<Unanswered> why) {
    answer_by(engine, why);
    REQUIRE(replies.back());
    return *replies.back();
  }

  ManualLoop loop;
  std::shared_ptr<const int> client = std::make_shared<int>();
  std::deque<Question> put;
  std::deque<std::optional<Reply>> replies;
};

}  // namespace tests
