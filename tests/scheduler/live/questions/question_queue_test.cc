#include "scheduler/live/questions/question_queue.h"

#include "tests/support/catch.h"

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::Question;
using sched::live::QuestionQueue;
using sched::live::Unanswered;

const QuestionQueue::Clock::time_point kQueueStart{1'000h};

class QuestionQueueBench {
 public:
  // The name's question, which is wanted until it is said that it is not.
  void push(const std::string& name) {
    queue.push({.answer = [this, name](const sched::Engine&) { said.push_back("answer " + name); },
                .refuse =
                    [this, name](Unanswered why) {
                      CHECK(why == Unanswered::kEnded);
                      said.push_back("refuse " + name);
                    },
                .is_wanted = [this, name] { return name != unwanted; }});
  }
  // Answers the next one, in so long; false if none may be answered yet.
  bool answer(QuestionQueue::Clock::time_point now, std::chrono::milliseconds takes = 0ms) {
    const auto question = queue.take(now);
    if (!question) return false;
    question->answer(engine);
    queue.answered(now, now + takes);
    return true;
  }

  std::string unwanted;
  std::vector<std::string> said;
  QuestionQueue queue;
  const sched::Engine engine{{}, {}};
};

}  // namespace

TEST_CASE("questions are answered in the order in which they came") {
  QuestionQueueBench bench;
  CHECK_FALSE(bench.queue.due());
  CHECK_FALSE(bench.answer(kQueueStart));
  for (const char* name : {"a", "b"}) bench.push(name);
  CHECK(bench.queue.due() <= kQueueStart);
  CHECK(bench.answer(kQueueStart));
  CHECK(bench.answer(kQueueStart));
  CHECK_FALSE(bench.answer(kQueueStart));
  CHECK(bench.said == std::vector<std::string>{"answer a", "answer b"});
}

TEST_CASE("questions take a tenth of the time") {
  QuestionQueueBench bench;
  for (const char* name : {"a", "b", "c"}) bench.push(name);
  CHECK(bench.answer(kQueueStart, 10ms));
  CHECK(bench.queue.due() == kQueueStart + 100ms);
  CHECK_FALSE(bench.answer(kQueueStart + 99ms));
  CHECK(bench.answer(kQueueStart + 100ms, 1ms));
  CHECK(bench.queue.due() == kQueueStart + 110ms);
  CHECK_FALSE(bench.answer(kQueueStart + 109ms));
  CHECK(bench.answer(kQueueStart + 110ms));
}

TEST_CASE("what nobody waits for any more is not answered") {
  QuestionQueueBench bench;
  for (const char* name : {"a", "gone", "b"}) bench.push(name);
  bench.unwanted = "gone";
  CHECK(bench.answer(kQueueStart));
  CHECK(bench.answer(kQueueStart));
  CHECK_FALSE(bench.answer(kQueueStart));
  CHECK(bench.said == std::vector<std::string>{"answer a", "answer b"});
}

TEST_CASE("questions of which many come and go do not pile up") {
  QuestionQueueBench bench;
  const auto held = std::make_shared<int>();
  for (int i = 0; i < 100; ++i) {
    bench.queue.push({.answer = [held](const sched::Engine&) {},
                      .refuse = [](Unanswered) {},
                      .is_wanted = [] { return false; }});
  }
  CHECK(held.use_count() == 2);
}

TEST_CASE("at the end all that wait are refused, and all that come") {
  QuestionQueueBench bench;
  for (const char* name : {"a", "b"}) bench.push(name);
  bench.queue.close();
  bench.push("c");
  CHECK_FALSE(bench.answer(kQueueStart));
  CHECK(bench.said == std::vector<std::string>{"refuse a", "refuse b", "refuse c"});
}
