#include "scheduler/server/delegated_access.h"

#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <string>
#include <vector>

using sched::server::DelegatedAccess;
using Outcome = DelegatedAccess::Outcome;
using Verdict = DelegatedAccess::Verdict;
using namespace std::chrono_literals;

namespace {

const k8s::Access kPage = k8s::NonResourceAccess{.path = "/metrics", .verb = "get"};

k8s::Access pod(const std::string& name) {
  return k8s::ResourceAccess{.verb = "get", .resource = "pods", .namespace_ = "ml", .name = name};
}

// An API server that is the test, and who asks for what.
class World {
 public:
  explicit World(DelegatedAccess::Limits limits = {})
      : access_(
            loop,
            {.review_token = [this](const std::string& token,
                                    auto done) { tokens.emplace_back(token, done); },
             .review_access =
                 [this](const k8s::UserInfo& user, const k8s::Access& access, auto done) {
                   users.emplace_back(user, done);
                   reviewed.push_back(k8s::to_string(access));
                 }},
            limits,
            {.on_problem = [this](const k8s::Error& error) { problems.push_back(error.message); },
             .on_progress = [this] { ++progress; }}) {}

  // The verdicts of a request, none yet if it waits.
  std::vector<Verdict>& ask(const std::string& token, std::vector<k8s::Access> wanted = {kPage}) {
    auto& verdicts = asked_.emplace_back();
    access_.ask(token, std::move(wanted),
                [&verdicts](const Verdict& verdict) { verdicts.push_back(verdict); });
    return verdicts;
  }
  DelegatedAccess& access() { return access_; }
  void answer_token(bool authenticated, const std::string& name = "") {
    auto [token, done] = take(tokens);
    done(k8s::TokenStatus{.authenticated = authenticated, .user = {.username = name}});
  }
  void answer_access(bool allowed) {
    auto [user, done] = take(users);
    done(allowed);
  }
  void fail_token(const std::string& why) {
    auto [token, done] = take(tokens);
    done(tl::unexpected(k8s::make_error(k8s::ErrorKind::kConnect, why)));
  }

  tests::ManualLoop loop;
  std::deque<std::pair<std::string, std::function<void(k8s::Result<k8s::TokenStatus>)>>> tokens;
  std::deque<std::pair<k8s::UserInfo, std::function<void(k8s::Result<bool>)>>> users;
  std::vector<std::string> reviewed;
  std::vector<std::string> problems;
  int progress = 0;

 private:
  template <typename T>
  static T take(std::deque<T>& from) {
    REQUIRE_FALSE(from.empty());
    T first = std::move(from.front());
    from.pop_front();
    return first;
  }

  std::deque<std::vector<Verdict>> asked_;
  DelegatedAccess access_;
};

const Verdict kNobody{.outcome = Outcome::kUnknownToken};
const Verdict kNotReviewed{};
const Verdict kMayRead{.outcome = Outcome::kAllowed, .user = "prometheus"};
const Verdict kMayNot{.outcome = Outcome::kForbidden, .user = "prometheus", .denied = kPage};

}  // namespace

TEST_CASE("the API server says whose token it is, and whether that one may") {
  World world;
  const auto& unknown = world.ask("made-up");
  CHECK(unknown.empty());
  world.answer_token(false);
  CHECK(unknown == std::vector{kNobody});
  CHECK(world.users.empty());

  const auto& allowed = world.ask("a");
  world.answer_token(true, "prometheus");
  CHECK(world.users.front().first.username == "prometheus");
  world.answer_access(true);
  CHECK(allowed == std::vector{kMayRead});

  const auto& forbidden = world.ask("b");
  world.answer_token(true, "prometheus");
  world.answer_access(false);
  CHECK(forbidden == std::vector{kMayNot});
  CHECK(world.problems.empty());
}

TEST_CASE("an answer is good for ten seconds, yes and no alike") {
  const bool allowed = GENERATE(true, false);
  World world;
  world.ask("a");
  world.answer_token(true, "prometheus");
  world.answer_access(allowed);
  world.loop.advance(9'999ms);
  CHECK(world.ask("a") == std::vector{allowed ? kMayRead : kMayNot});
  CHECK(world.tokens.empty());
  world.loop.advance(1ms);
  CHECK(world.ask("a").empty());
  CHECK(world.tokens.size() == 1);
}

TEST_CASE("requests with one token share one review") {
  World world;
  const auto& first = world.ask("a");
  const auto& second = world.ask("a");
  CHECK(world.tokens.size() == 1);
  world.answer_token(true, "prometheus");
  CHECK(world.users.size() == 1);
  world.answer_access(true);
  CHECK(first == std::vector{kMayRead});
  CHECK(second == std::vector{kMayRead});
}

TEST_CASE("who wants several things is told of the first that is denied, and is asked no further") {
  World world;
  const auto& asked = world.ask("a", {kPage, pod("x"), pod("y")});
  world.answer_token(true, "ada");
  world.answer_access(true);
  world.answer_access(false);
  CHECK(asked ==
        std::vector{Verdict{.outcome = Outcome::kForbidden, .user = "ada", .denied = pod("x")}});
  CHECK(world.reviewed == std::vector<std::string>{"get \"/metrics\"", "get pods \"ml/x\""});
  CHECK(world.users.empty());

  const auto& all = world.ask("a", {kPage, pod("z")});
  world.answer_access(true);
  CHECK(all.empty());
  world.answer_access(true);
  CHECK(all == std::vector{Verdict{.outcome = Outcome::kAllowed, .user = "ada"}});
}

TEST_CASE("a verdict is of what was wanted, and of nothing else") {
  World world;
  world.ask("a", {pod("x")});
  world.answer_token(true, "ada");
  world.answer_access(true);
  CHECK(world.ask("a", {pod("x")}).size() == 1);
  CHECK(world.ask("a", {pod("y")}).empty());
  CHECK(world.ask("a", {kPage, pod("x")}).empty());
  CHECK(world.users.size() == 2);
}

TEST_CASE("whose token it is is asked once for ten seconds, whatever is wanted with it") {
  World world;
  const auto& whose = world.ask("a", {});
  world.answer_token(true, "ada");
  CHECK(whose == std::vector{Verdict{.outcome = Outcome::kAllowed, .user = "ada"}});
  CHECK(world.users.empty());
  world.loop.advance(9s);
  const auto& allowed = world.ask("a");
  CHECK(world.tokens.empty());
  CHECK(world.users.front().first.username == "ada");
  world.answer_access(true);
  CHECK(allowed == std::vector{Verdict{.outcome = Outcome::kAllowed, .user = "ada"}});
  // The token may be no one's now, so what it was allowed ends with it.
  world.loop.advance(1s);
  const auto& later = world.ask("a");
  world.answer_token(false);
  CHECK(later == std::vector{kNobody});
}

TEST_CASE("what ends sooner ends so behind what ends later") {
  World world;
  world.ask("early", {});
  world.answer_token(true, "ada");
  world.loop.advance(9s);
  world.ask("late");
  world.answer_token(true, "bob");
  world.answer_access(true);
  world.ask("early");
  world.answer_access(true);
  world.loop.advance(1s);
  CHECK(world.ask("early").empty());
  CHECK(world.ask("late").size() == 1);
}

TEST_CASE("which of several things somebody may do is told of each, and remembered of each") {
  World world;
  std::vector<std::vector<bool>> told;
  const auto ask = [&](const std::vector<k8s::Access>& wanted) {
    world.access().ask_each("a", wanted,
                            [&](const std::vector<bool>& each) { told.push_back(each); });
  };
  world.ask("a", {});
  world.answer_token(true, "ada");
  ask({pod("x"), pod("y"), pod("z")});
  CHECK(told.empty());
  world.answer_access(true);
  world.answer_access(false);
  world.answer_access(true);
  CHECK(told.front() == std::vector{true, false, true});
  ask({pod("z"), pod("y")});
  CHECK(told.back() == std::vector{true, false});
  ask({});
  CHECK(told.back().empty());
  CHECK(world.users.empty());
}

TEST_CASE("what cannot be reviewed counts as not allowed") {
  World world({.open = 1});
  std::vector<std::vector<bool>> told;
  world.access().ask_each("a", {pod("x"), pod("y")},
                          [&](const std::vector<bool>& each) { told.push_back(each); });
  world.fail_token("nobody there");
  CHECK(told.front() == std::vector{false, false});
}

TEST_CASE("a review that fails is told, and not remembered") {
  World world;
  const auto& first = world.ask("a");
  world.fail_token("nobody there");
  CHECK(first == std::vector{kNotReviewed});
  CHECK(world.problems == std::vector<std::string>{"nobody there"});
  CHECK(world.progress == 0);
  const auto& second = world.ask("a");
  world.answer_token(false);
  CHECK(second == std::vector{kNobody});
  CHECK(world.progress == 1);
}

TEST_CASE("no more reviews are open than may be") {
  World world({.open = 2});
  world.ask("a");
  world.ask("b");
  CHECK(world.ask("c") == std::vector{kNotReviewed});
  CHECK(world.ask("a").empty());
  CHECK(world.tokens.size() == 2);
  world.answer_token(false);
  CHECK(world.ask("c").empty());
}

TEST_CASE("no more answers are remembered than may be: the oldest goes") {
  World world({.remembered = 2});
  for (const char* token : {"a", "b", "c"}) {
    world.ask(token);
    world.answer_token(false);
  }
  CHECK(world.ask("b") == std::vector{kNobody});
  CHECK(world.ask("c") == std::vector{kNobody});
  CHECK(world.ask("a").empty());
}
