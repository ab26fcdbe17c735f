#include "scheduler/live/questions/asker.h"

#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::Asker;
using sched::live::Question;
using sched::live::Unanswered;

// The engine's thread is the test.
class AskerWorld {
 public:
  AskerWorld() : asker(make()) {}

  // Asks for `answer`; what became of it is added to `ends`.
  void ask(int answer, const std::weak_ptr<const void>& asks, const std::string& account = "ada") {
    asker->ask(
        [this, answer](const sched::Engine&) {
          ++computed;
          return answer;
        },
        {account, asks},
        [this](const tl::expected<int, Unanswered>& end) {
          ends.push_back(end ? std::to_string(*end) : words(end.error()));
        });
  }
  // The engine's thread does its part of the oldest question, as QuestionQueue would.
  void answer() {
    const Question question = take();
    if (question.is_wanted()) question.answer(engine_);
  }
  void refuse(Unanswered why) { take().refuse(why); }

  const std::shared_ptr<const int> client = std::make_shared<int>();
  tests::ManualLoop loop;
  std::deque<Question> put;
  std::unique_ptr<Asker> asker;
  int computed = 0;
  std::vector<std::string> ends;

 private:
  std::unique_ptr<Asker> make() {
    return std::make_unique<Asker>(
        loop, [this](Question question) { put.push_back(std::move(question)); },
        Asker::Limits{.open = 3, .open_of_account = 2, .patience = 5s});
  }
  Question take() {
    REQUIRE_FALSE(put.empty());
    Question first = std::move(put.front());
    put.pop_front();
    return first;
  }
  static std::string words(Unanswered why) {
    static const std::vector<std::string> kWords = {"too many", "not deciding", "too late",
                                                    "ended"};
    return kWords.at(static_cast<std::size_t>(why));
  }

  const sched::Engine engine_{{}, {}};
};

using Ends = std::vector<std::string>;

}  // namespace

TEST_CASE("an answer comes back on the asker's loop") {
  AskerWorld world;
  world.ask(1, world.client);
  world.ask(2, world.client);
  world.answer();
  CHECK(world.ends.empty());
  world.loop.run_ready();
  CHECK(world.ends == Ends{"1"});
  world.answer();
  world.loop.run_ready();
  CHECK(world.ends == Ends{"1", "2"});
  CHECK_FALSE(world.loop.next_timer());
}

TEST_CASE("a refusal comes back as well") {
  AskerWorld world;
  world.ask(1, world.client);
  world.refuse(Unanswered::kNotDeciding);
  world.loop.run_ready();
  CHECK(world.ends == Ends{"not deciding"});
}

TEST_CASE("no more questions are open than may be") {
  AskerWorld world;
  for (int i = 1; i <= 3; ++i) world.ask(i, world.client);
  CHECK(world.ends == Ends{"too many"});
  CHECK(world.put.size() == 2);
  world.answer();
  world.loop.run_ready();
  world.ask(4, world.client);
  CHECK(world.ends == Ends{"too many", "1"});
  CHECK(world.put.size() == 2);
}

TEST_CASE("an account that has as many open as it may have does not keep others out") {
  AskerWorld world;
  for (int i = 1; i <= 3; ++i) world.ask(i, world.client, "ada");
  CHECK(world.ends == Ends{"too many"});
  world.ask(4, world.client, "bob");
  CHECK(world.put.size() == 3);
  world.ask(5, world.client, "eve");  // of all together there are as many as may be
  CHECK(world.ends == Ends{"too many", "too many"});
  world.answer();
  world.loop.run_ready();
  world.ask(6, world.client, "ada");
  CHECK(world.ends == Ends{"too many", "too many", "1"});
  CHECK(world.put.size() == 3);
}

TEST_CASE("a question waits only so long, and is not computed afterwards") {
  AskerWorld world;
  world.ask(1, world.client);
  world.loop.advance(4'999ms);
  CHECK(world.ends.empty());
  world.loop.advance(1ms);
  CHECK(world.ends == Ends{"too late"});
  world.answer();
  world.loop.run_ready();
  CHECK(world.computed == 0);
  CHECK(world.ends == Ends{"too late"});
}

TEST_CASE("an answer that is on its way when the time is up comes to nobody") {
  AskerWorld world;
  world.ask(1, world.client);
  const Question question = std::move(world.put.front());
  world.loop.advance(5s);
  question.answer(sched::Engine{{}, {}});
  world.loop.run_ready();
  CHECK(world.ends == Ends{"too late"});
}

TEST_CASE("for a client that has gone nothing is computed, and its place is free") {
  AskerWorld world;
  auto going = std::make_shared<int>();
  world.ask(1, going);
  world.ask(2, world.client);
  going.reset();
  world.ask(3, world.client);
  for (int i = 0; i < 3; ++i) world.answer();
  world.loop.run_ready();
  CHECK(world.computed == 2);
  CHECK(world.ends == Ends{"2", "3"});
}

TEST_CASE("an asker that is no more is not answered, nor is anything computed for it") {
  AskerWorld world;
  world.ask(1, world.client);
  world.ask(2, world.client);
  world.answer();  // under way back
  world.asker.reset();
  world.answer();
  world.loop.run_ready();
  CHECK(world.computed == 1);
  CHECK(world.ends.empty());
}
