// Every row of the election: what comes in, what is asked next, which candidate leads until when.
#include "k8s-client/leader_election/election.h"

#include "tests/support/catch.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// One election, fed with words:
//
//   start, release      begin; give back
//   wait                the last wait passes
//   waited              the same, whenever it is
//   +N, at N            N ms pass, or it is N ms after the beginning, before the next input
//   lease H RENEWAL     the GET is answered: H holds it ("-": no holder) since H's renewal of that
//                       number ("never": it has none), for 15 s
//   short H RENEWAL     the same, for 3 s
//   old H RENEWAL       the same as the first, at the version before the last one
//   same H RENEWAL      the same as the first, at the last version
//   ok                  the write is accepted
//   lost                no answer to the request
//   N, N/R              refused with status N, Retry-After R
//
// What follows is told in words as well: "get", "create …", "update …", "wait N" ("wait ~500": a
// follower's, jittered), and the state when it changes.
class Script {
 public:
  explicit Script(ElectionOptions options) : election_(std::move(options)) {}

  std::string feed(const std::string& input) {
    std::istringstream words(input);
    std::string word;
    words >> word;
    if (word.front() == '+') {
      now_ += milliseconds(number(word.substr(1)));
      return feed(input.substr(word.size() + 1));
    }
    if (word == "at") {
      words >> word;
      now_ = kBegin + milliseconds(number(word));
      return feed(input.substr(input.find(word) + word.size() + 1));
    }
    const auto before = election_.state();
    take(word, words);
    return told(before);
  }

 private:
  static int number(const std::string& text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void take(const std::string& word, std::istringstream& rest) {
    if (word == "start") {
      step_ = election_.start(now());
    } else if (word == "release") {
      step_ = election_.release(now());
    } else if (word == "wait" || word == "waited") {
      REQUIRE(step_.wait);
      if (word == "wait") now_ += *step_.wait;
      step_ = election_.waited(now());
    } else {
      step_ = election_.answered(answer(word, rest), now());
    }
  }

  Result<Lease> answer(const std::string& word, std::istringstream& rest) {
    if (word == "ok") {
      Lease lease = asked_.lease;
      lease.metadata.resource_version = std::to_string(++version_);
      return lease;
    }
    if (word == "lease" || word == "short" || word == "old" || word == "same") {
      std::string holder;
      std::string renewal;
      rest >> holder >> renewal;
      Lease lease;
      lease.metadata.name = "scheduler";
      const bool is_known = word == "old" || word == "same";
      if (!is_known) ++version_;
      lease.metadata.resource_version = std::to_string(word == "old" ? version_ - 1 : version_);
      lease.spec.holder_identity = holder == "-" ? "" : holder;
      lease.spec.lease_duration_seconds = word == "short" ? 3 : 15;
      if (renewal != "never")
        lease.spec.renew_time = Timestamp(std::chrono::hours(number(renewal)));
      lease.spec.lease_transitions = 7;
      return lease;
    }
    Error error{.kind = ErrorKind::kTimeout, .message = "no answer", .may_have_acted = true};
    if (word != "lost") {
      error = {.kind = ErrorKind::kStatus, .message = word, .http_status = number(word)};
      const auto slash = word.find('/');
      if (slash != std::string::npos) {
        error.retry_after = std::chrono::seconds(number(word.substr(slash + 1)));
      }
    }
    return tl::unexpected(error);
  }

  std::string told(Election::State before) {
    std::string text;
    if (step_.request) {
      asked_ = *step_.request;
      text = request_text();
    } else if (step_.wait) {
      const auto wait = step_.wait->count();
      const bool jittered =
          election_.state() == Election::State::kFollowing && wait > 500 && wait <= 600;
      text = jittered ? "wait ~500" : fmt::format("wait {}", wait);
    }
    if (election_.state() == before) return text;
    return text + (text.empty() ? "" : "; ") + state_text();
  }

  std::string request_text() {
    const Lease& lease = asked_.lease;
    switch (asked_.kind) {
      case LeaseRequest::Kind::kGet:
        return "get";
      case LeaseRequest::Kind::kCreate:
        CHECK(lease.metadata.resource_version.empty());
        return "create " + spec_text();
      case LeaseRequest::Kind::kUpdate:
        CHECK(lease.metadata.resource_version == std::to_string(version_));
        return "update " + spec_text();
    }
    return "?";
  }

  // Holder, seconds, transitions.
  std::string spec_text() const {
    const Lease::Spec& spec = asked_.lease.spec;
    CHECK(spec.renew_time == now().wall);
    return fmt::format("{} {} {}", spec.holder_identity.empty() ? "-" : spec.holder_identity,
                       spec.lease_duration_seconds, spec.lease_transitions);
  }

  std::string state_text() const {
    if (election_.state() == Election::State::kEnded) {
      if (election_.gave_back()) return "gave it back";
      return election_.why_lost().empty() ? "ended" : "lost: " + election_.why_lost();
    }
    if (election_.valid_until() == Election::TimePoint{}) return "leads, and claims nothing";
    const char* origin = "";
    switch (election_.origin()) {
      case Election::Origin::kCreated:
        origin = "created";
        break;
      case Election::Origin::kReleased:
        origin = "released";
        break;
      case Election::Origin::kExpired:
        origin = "expired";
        break;
    }
    const auto until = election_.valid_until().time_since_epoch() - kBegin;
    return fmt::format("leads until {} ({})",
                       std::chrono::duration_cast<milliseconds>(until).count(), origin);
  }

  [[nodiscard]] ElectionTime now() const {
    // The wall clock goes its own way.
    return {BootClock::time_point(now_), Timestamp(std::chrono::hours(1'000'000) - now_ / 1000)};
  }

  static constexpr milliseconds kBegin = 1h;
  Election election_;
  ElectionStep step_;
  LeaseRequest asked_;
  milliseconds now_ = kBegin;
  int version_ = 0;
};

struct Row {
  std::string input;
  std::string want;
};
struct Case {
  std::string name;
  std::vector<Row> rows;
};

// As after an installation: there is no lease yet.
const std::vector<Row> kLeads = {{"start", "get"},
                                 {"404", "create me 15 0"},
                                 {"+100 ok", "wait 1900; leads until 14850 (created)"}};
const std::vector<Row> kFollows = {{"start", "get"}, {"lease other 1", "wait ~500"}};

std::vector<Row> after(std::vector<Row> first, const std::vector<Row>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Script script({.namespace_ = "kube", .name = "scheduler", .identity = "me"});
    for (std::size_t i = 0; i < c.rows.size(); ++i) {
      INFO(c.name << ", row " << i << ": " << c.rows[i].input);
      CHECK(script.feed(c.rows[i].input) == c.rows[i].want);
    }
  }
}

TEST_CASE("a lease that goes back in time ends the election", "[election]") {
  const std::string kBack =
      "lost: the lease is at version 1 after 2: its store has gone back in time, as when etcd is "
      "restored from a backup";
  check({
      {"of a leader, whose renewal conflicts", after(kLeads, {{"wait", "update me 15 0"},
                                                              {"ok", "wait 2000"},
                                                              {"wait", "update me 15 0"},
                                                              {"409", "get"},
                                                              {"old me 1", kBack}})},
      {"of a follower, whoever holds it then", after(kFollows, {{"wait", "get"},
                                                                {"lease other 2", "wait ~500"},
                                                                {"wait", "get"},
                                                                {"old other 1", kBack}})},
      {"but not one that stays as it is",
       after(kFollows, {{"wait", "get"}, {"lease other 2", "wait ~500"}})},
  });
}

TEST_CASE("acquiring the lease", "[election]") {
  check({
      {"there is none", kLeads},
      {"nobody holds it any more",
       {{"start", "get"},
        {"lease - 1", "update me 15 8"},
        {"ok", "wait 2000; leads until 14850 (released)"}}},
      {"it was made by hand and never held",
       {{"start", "get"},
        {"lease - never", "update me 15 8"},
        {"ok", "wait 2000; leads until 14850 (created)"}}},
      {"somebody holds it and goes on renewing", after(kFollows, {{"wait", "get"},
                                                                  {"lease other 2", "wait ~500"},
                                                                  {"+20000 wait", "get"},
                                                                  {"lease other 3", "wait ~500"}})},
      {"its holder is silent for the whole duration, by our clock",
       after(kFollows, {{"+15000 wait", "get"}, {"lease other 1", "update me 15 8"}})},
      {"not a moment before", after(kFollows, {{"at 14900 waited", "get"},
                                               {"lease other 1", "wait 100"},
                                               {"wait", "get"},
                                               {"lease other 1", "update me 15 8"}})},
      {"the duration that counts is the holder's own",
       {{"start", "get"},
        {"short other 1", "wait ~500"},
        {"at 3000 waited", "get"},
        {"short other 1", "update me 15 8"}}},
      {"another candidate was faster", after(kFollows, {{"+15000 wait", "get"},
                                                        {"lease other 1", "update me 15 8"},
                                                        {"409", "get"},
                                                        {"lease third 1", "wait ~500"}})},
      {"another candidate made it first",
       {{"start", "get"},
        {"404", "create me 15 0"},
        {"409", "get"},
        {"lease third 1", "wait ~500"}}},
      {"the answer was lost, and it was ours",
       after(kFollows, {{"at 15000 waited", "get"},
                        {"lease other 1", "update me 15 8"},
                        {"at 20000 lost", "wait 2000"},
                        {"wait", "get"},
                        {"lease me 5", "update me 15 8"},
                        // By the same right as the first time.
                        {"ok", "wait 2000; leads until 36850 (expired)"}})},
      {"the same, where it had been given back",
       {{"start", "get"},
        {"lease - 1", "update me 15 8"},
        {"lost", "wait 2000"},
        {"wait", "get"},
        {"lease me 2", "update me 15 8"},
        {"ok", "wait 2000; leads until 16850 (released)"}}},
      {"the same, where there was none",
       {{"start", "get"},
        {"404", "create me 15 0"},
        {"lost", "wait 2000"},
        {"wait", "get"},
        {"lease me 1", "update me 15 8"},
        {"ok", "wait 2000; leads until 16850 (created)"}}},
      {"the answer was lost, and it was not ours",
       after(kFollows, {{"+15000 wait", "get"},
                        {"lease other 1", "update me 15 8"},
                        {"lost", "wait 2000"},
                        {"wait", "get"},
                        {"lease third 1", "wait ~500"}})},
      {"who changes a label does not renew",
       after(kFollows, {{"at 7000 waited", "get"},
                        {"lease other 1", "wait ~500"},
                        {"at 15000 waited", "get"},
                        {"lease other 1", "update me 15 8"}})},
      {"it vanishes while somebody holds it: his time is waited out",
       after(kFollows, {{"at 2000 waited", "get"},
                        {"404", "wait 13000"},
                        {"wait", "get"},
                        {"404", "create me 15 0"},
                        {"ok", "wait 2000; leads until 29850 (created)"}})},
  });
}

TEST_CASE("a follower whose requests fail", "[election]") {
  check({
      {"403", {{"start", "get"}, {"403", "wait 2000"}, {"wait", "get"}}},
      {"500", {{"start", "get"}, {"500", "wait 2000"}, {"wait", "get"}}},
      {"429 with Retry-After: it has to see when the lease is free",
       {{"start", "get"}, {"429/300", "wait 2000"}, {"wait", "get"}}},
      {"no answer", {{"start", "get"}, {"lost", "wait 2000"}, {"wait", "get"}}},
      {"the namespace does not exist",
       {{"start", "get"}, {"404", "create me 15 0"}, {"404", "wait 2000"}, {"wait", "get"}}},
      {"the lease is gone when it is reached for",
       {{"start", "get"},
        {"lease - 1", "update me 15 8"},
        {"404", "create me 15 0"},
        {"ok", "wait 2000; leads until 14850 (created)"}}},
  });
}

TEST_CASE("renewing the lease", "[election]") {
  check({
      {"every retry period, counted from when each was sent",
       after(kLeads, {{"wait", "update me 15 0"},
                      {"+1500 ok", "wait 500"},
                      {"wait", "update me 15 0"},
                      {"+3000 ok", "wait 0"}})},
      {"failures are tried again until the renew deadline",
       after(kLeads, {{"wait", "update me 15 0"},  // at 2 s; the last accepted one was sent at 0
                      {"500", "wait 2000"},
                      {"wait", "update me 15 0"},
                      {"403", "wait 2000"},
                      {"wait", "update me 15 0"},
                      {"lost", "wait 2000"},
                      {"wait", "update me 15 0"},
                      {"+1500 503", "wait 500"},
                      {"wait", "update me 15 0"},
                      {"500", "lost: the lease was not renewed for 10000 ms: 500"}})},
      {"one that succeeds in time starts the count anew",
       after(kLeads, {{"+7000 wait", "update me 15 0"},
                      {"ok", "wait 2000"},
                      {"+7000 wait", "update me 15 0"},
                      {"500", "wait 1000"}})},
      {"Retry-After does not cost the lease",
       after(kLeads, {{"wait", "update me 15 0"}, {"429/60", "wait 2000"}})},
      {"an earlier renewal was accepted, and its answer lost",
       after(kLeads, {{"wait", "update me 15 0"},
                      {"+5000 lost", "wait 2000"},
                      {"wait", "update me 15 0"},
                      {"409", "get"},
                      {"lease me 2", "update me 15 7"},
                      {"ok", "wait 2000"}})},
      {"another one holds it",
       after(kLeads, {{"wait", "update me 15 0"},
                      {"409", "get"},
                      {"lease other 9", "lost: the lease is held by other"}})},
      {"somebody emptied it: another may have led meanwhile",
       after(kLeads, {{"wait", "update me 15 0"},
                      {"409", "get"},
                      {"lease - 9", "lost: another process gave the lease back in our name"}})},
      {"it was deleted: made again",
       after(kLeads, {{"wait", "update me 15 0"}, {"404", "create me 15 0"}, {"ok", "wait 2000"}})},
      {"it was deleted, and another one made his",
       after(kLeads, {{"wait", "update me 15 0"},
                      {"404", "create me 15 0"},
                      {"409", "get"},
                      {"lease other 1", "lost: the lease is held by other"}})},
      // The version proves that no other has led, however long this process was stopped.
      {"the process was stopped, and nobody took over",
       after(kLeads, {{"+60000 wait", "update me 15 0"}, {"ok", "wait 2000"}})},
      {"the process was stopped, and somebody took over",
       after(kLeads, {{"+60000 wait", "update me 15 0"},
                      {"409", "get"},
                      {"lease other 1", "lost: the lease is held by other"}})},
      {"the process was stopped, and the server does not answer",
       after(kLeads, {{"+60000 wait", "update me 15 0"},
                      {"lost", "lost: the lease was not renewed for 62000 ms: no answer"}})},
  });
}

TEST_CASE("a write that is refused whatever the lease's version is not repeated at once",
          "[election]") {
  check({
      {"of a leader, which then does not renew in time",
       after(kLeads, {{"wait", "update me 15 0"},  // at 2 s; the last accepted one was sent at 0
                      {"409", "get"},
                      {"same me 1", "wait 2000"},
                      {"wait", "update me 15 7"},
                      {"409", "get"},
                      {"same me 1", "wait 2000"},
                      {"at 9500 waited", "update me 15 7"},
                      {"409", "get"},
                      {"same me 1", "wait 500"},
                      {"wait", "update me 15 7"},
                      {"409", "get"},
                      {"same me 1", "lost: the lease was not renewed for 10000 ms: 409"}})},
      {"the next one is accepted", after(kLeads, {{"wait", "update me 15 0"},
                                                  {"409", "get"},
                                                  {"same me 1", "wait 2000"},
                                                  {"wait", "update me 15 7"},
                                                  {"ok", "wait 2000"}})},
      {"of a follower",
       {{"start", "get"},
        {"lease - 1", "update me 15 8"},
        {"409", "get"},
        {"same - 1", "wait 2000"},
        {"wait", "get"},
        {"same - 1", "update me 15 8"},
        {"ok", "wait 2000; leads until 16850 (released)"}}},
      {"where there is none",
       {{"start", "get"},
        {"404", "create me 15 0"},
        {"409", "get"},
        {"404", "wait 2000"},
        {"wait", "get"},
        {"404", "create me 15 0"}}},
      {"with 404, as if it were gone", after(kLeads, {{"wait", "update me 15 0"},
                                                      {"404", "create me 15 0"},
                                                      {"409", "get"},
                                                      {"same me 1", "wait 2000"}})},
      {"while it is given back", after(kLeads, {{"release", "update - 1 0"},
                                                {"409", "get"},
                                                {"same me 1", "wait 2000"},
                                                {"wait", "update - 1 7"},
                                                {"ok", "gave it back"}})},
  });
}

TEST_CASE("giving the lease back", "[election]") {
  check({
      {"while it waits for its next renewal",
       after(kLeads, {{"release", "update - 1 0"}, {"ok", "gave it back"}})},
      {"while a renewal is under way", after(kLeads, {{"wait", "update me 15 0"},
                                                      {"release", ""},
                                                      {"ok", "update - 1 0"},
                                                      {"ok", "gave it back"}})},
      {"while it reaches for it",
       {{"start", "get"},
        {"404", "create me 15 0"},
        {"release", ""},
        {"ok", "update - 1 0; leads, and claims nothing"},
        {"ok", "gave it back"}}},
      {"a follower has none", after(kFollows, {{"release", "ended"}})},
      {"a follower who is just looking",
       {{"start", "get"}, {"release", ""}, {"lease - 1", "ended"}}},
      {"a follower whose server fails", {{"start", "get"}, {"release", ""}, {"500", "ended"}}},
      {"a follower who finds that an earlier try was accepted",
       {{"start", "get"},
        {"lease - 1", "update me 15 8"},
        {"lost", "wait 2000"},
        {"wait", "get"},
        {"release", ""},
        {"lease me 2", "update - 1 7"},
        {"ok", "gave it back"}}},
      {"the server refuses", after(kLeads, {{"release", "update - 1 0"},
                                            {"500", "wait 2000"},
                                            {"wait", "update - 1 0"},
                                            {"ok", "gave it back"}})},
      {"another one has it already",
       after(kLeads, {{"release", "update - 1 0"},
                      {"409", "get"},
                      {"lease other 1", "lost: the lease is held by other"}})},
      {"an earlier renewal was accepted, and its answer lost",
       after(kLeads, {{"wait", "update me 15 0"},
                      {"lost", "wait 2000"},
                      {"release", "update - 1 0"},
                      {"409", "get"},
                      {"lease me 2", "update - 1 7"},
                      {"ok", "gave it back"}})},
      {"it was given back, and the answer lost", after(kLeads, {{"release", "update - 1 0"},
                                                                {"lost", "wait 2000"},
                                                                {"wait", "update - 1 0"},
                                                                {"409", "get"},
                                                                {"lease - 2", "gave it back"}})},
      {"it is gone", after(kLeads, {{"release", "update - 1 0"}, {"404", "ended"}})},
      {"the server is silent until the lease has lapsed by itself",
       after(kLeads, {{"release", "update - 1 0"},
                      {"+5000 lost", "wait 2000"},
                      {"wait", "update - 1 0"},
                      {"+5000 lost", "ended"}})},
  });
}

TEST_CASE("a request leaves time for another one before the renew deadline", "[election]") {
  Election election({.identity = "me"});
  const auto at = [](milliseconds time) {
    return ElectionTime{BootClock::time_point(time), Timestamp{}};
  };
  const auto lease = [](const ElectionStep& step) {
    Lease written = step.request->lease;
    written.metadata.resource_version = "1";
    return written;
  };
  const Error missing{.kind = ErrorKind::kStatus, .message = {}, .http_status = 404};
  const Error lost{.kind = ErrorKind::kTimeout, .message = {}};
  CHECK(election.start(at(0s)).request->deadline == 5s);
  const auto create = election.answered(tl::unexpected(missing), at(0s));
  CHECK(create.request->deadline == 5s);
  (void)election.answered(lease(create), at(0s));
  CHECK(election.waited(at(2s)).request->deadline == 5s);
  CHECK(election.answered(tl::unexpected(lost), at(7s)).wait == 2s);
  CHECK(election.waited(at(9s)).request->deadline == 1s);
}

}  // namespace
}  // namespace k8s
