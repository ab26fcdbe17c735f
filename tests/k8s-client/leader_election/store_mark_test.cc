// Without leader election: a store that was set back is noticed.
#include "k8s-client/leader_election/store_mark.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;

// The body of a refusal.
std::string words_of(int status) {
  return status == 404 ? R"({"kind":"Status","reason":"NotFound","message":"not found"})" : "";
}

// An API server that has this one lease.
struct MarkBench {
  explicit MarkBench(int refused = 0) : refusal(refused) {
    transport.serve([this](const std::shared_ptr<tests::FakeCall>& call) {
      if (held_back) return held.push_back(call);
      answer(call);
    });
    begin("me");
  }

  // A process starts.
  void begin(const std::string& identity) {
    mark = std::make_unique<StoreMark>(
        client, loop,
        StoreMark::Options{.namespace_ = "ours", .name = "mark", .identity = identity},
        StoreMark::Hooks{.on_went_back = [this](const std::string& why) { log.push_back(why); },
                         .on_problem =
                             [this](const Error& error, std::chrono::milliseconds) {
                               log.push_back("problem: " + error.message);
                             },
                         .on_written = [this] { ++written; },
                         .on_claimed = [this](bool given_back) { claims.push_back(given_back); }},
        [this] {
          return Timestamp(
              std::chrono::duration_cast<std::chrono::microseconds>(loop.now().time_since_epoch()));
        });
    mark->start();
    loop.run_ready();
  }

  void answer(const std::shared_ptr<tests::FakeCall>& call) {
    if (is_cut_off) return call->respond(404, "no backend");
    if (refusal != 0) return call->respond(refusal, words_of(refusal));
    const auto method = call->request().method;
    if (method == Method::kGet || (method == Method::kPut && !stored)) {
      return stored ? call->respond(200, encode(*stored)) : call->respond(404, words_of(404));
    }
    if (refused_write != 0) return call->respond(refused_write, words_of(refused_write));
    auto sent = Decoder().object<Lease>(call->request().body);
    REQUIRE(sent);
    if (stored && sent->metadata.resource_version != stored->metadata.resource_version) {
      return call->respond(409, "");
    }
    sent->metadata.resource_version = std::to_string(++version);
    if (!stored) sent->metadata.uid = "uid-" + std::to_string(version);
    stored = *sent;
    if (answers_are_lost) return call->respond(504, "");
    call->respond(200, encode(*stored));
  }
  void wait(std::chrono::milliseconds time) { loop.advance(time); }
  std::vector<std::string> told() { return std::exchange(log, {}); }

  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  Client client{transport, loop};
  std::optional<Lease> stored;
  int version = 100;
  int refusal;
  int refused_write = 0;  // of writes alone: a webhook's status
  bool answers_are_lost = false;
  bool is_cut_off = false;  // what is before the server answers
  bool held_back = false;   // requests are not answered, but kept
  std::vector<std::shared_ptr<tests::FakeCall>> held;
  int written = 0;
  std::vector<bool> claims;  // whether each was of a mark that was given back
  std::vector<std::string> log;
  std::unique_ptr<StoreMark> mark;
};

using Lines = std::vector<std::string>;

TEST_CASE("the mark is written every two seconds", "[store_mark]") {
  MarkBench bench;
  REQUIRE(bench.stored);
  CHECK(bench.stored->metadata.namespace_ == "ours");
  CHECK(bench.stored->metadata.name == "mark");
  CHECK(bench.stored->spec.holder_identity == "me");
  for (int i = 0; i < 5; ++i) bench.wait(2s);
  CHECK(bench.version == 106);
  CHECK(bench.written == 6);
  CHECK(bench.told().empty());
}

TEST_CASE("a mark that goes back in time is told, once, and nothing is asked after it",
          "[store_mark]") {
  MarkBench bench;
  bench.wait(2s);
  const Lease backup = *bench.stored;
  bench.wait(2s);
  bench.stored = backup;  // etcd is restored
  bench.version = 900;    // and others have written much since
  bench.wait(2s);
  CHECK(bench.told() == Lines{"the lease that marks the store's time is at version 102 after 103: "
                              "its store has gone back in time, as when etcd is restored from a "
                              "backup"});
  const std::size_t asked = bench.transport.seen().size();
  bench.wait(1h);
  CHECK(bench.told().empty());
  CHECK(bench.transport.seen().size() == asked);
}

TEST_CASE("a mark that is gone, or another one, shows that the store was set back to before it",
          "[store_mark]") {
  const std::string kWhy =
      ": its store has gone back in time, as when etcd is restored from a backup, or the lease "
      "was deleted";
  MarkBench bench;
  bench.version = 900;  // others have written much since
  SECTION("it is gone") {
    bench.stored.reset();
    bench.wait(2s);
    CHECK(bench.told() == Lines{"the lease that marks the store's time is gone" + kWhy});
  }
  SECTION("another process has made one") {
    bench.stored->metadata.uid = "another";
    bench.stored->metadata.resource_version = "901";
    bench.wait(2s);
    CHECK(bench.told() == Lines{"the lease that marks the store's time is another one" + kWhy});
  }
  const std::size_t asked = bench.transport.seen().size();
  bench.wait(1h);
  CHECK(bench.transport.seen().size() == asked);
}

TEST_CASE("what is no proof that the store was set back", "[store_mark]") {
  MarkBench bench;
  SECTION("another process writes the mark, too") {
    bench.stored->metadata.resource_version = std::to_string(++bench.version);
    bench.wait(2s);
    CHECK(bench.told().empty());
    CHECK(bench.version == 103);
  }
  SECTION("answers are lost") {
    bench.answers_are_lost = true;
    bench.wait(2s);
    CHECK(bench.told().size() == 1);
    bench.answers_are_lost = false;
    bench.wait(2s);
    CHECK(bench.told().empty());
    CHECK(bench.written == 2);
  }
}

TEST_CASE("a 404 that is not the API server's is no proof that the mark is gone", "[store_mark]") {
  MarkBench bench;
  bench.is_cut_off = true;
  bench.wait(4s);
  for (const std::string& line : bench.told()) CHECK(line.starts_with("problem: "));
  bench.is_cut_off = false;
  const int before = bench.written;
  bench.wait(4s);
  CHECK(bench.written > before);
  CHECK(bench.told().empty());
}

TEST_CASE("what was refused from the beginning is tried again after a minute, all else sooner",
          "[store_mark]") {
  struct Refusal {
    int status;
    std::chrono::seconds pause;
  };
  const bool was_written = GENERATE(false, true);
  for (const auto& [status, pause] :
       {Refusal{403, was_written ? 2s : 60s}, Refusal{404, 60s}, Refusal{500, 2s}}) {
    if (was_written && status == 404) continue;  // then it is gone
    INFO(status << (was_written ? " after it was written" : " from the beginning"));
    MarkBench bench(was_written ? 0 : status);
    if (was_written) {
      bench.refusal = status;
      bench.wait(2s);
    }
    CHECK(bench.told().size() == 1);
    bench.wait(pause - 1s);
    CHECK(bench.told().empty());
    bench.refusal = 0;
    const int before = bench.written;
    bench.wait(1s);
    CHECK(bench.written == before + 1);
  }
}

TEST_CASE("a write that is refused whatever the mark's version is repeated after a pause",
          "[store_mark]") {
  MarkBench bench;
  bench.wait(2s);
  const bool is_new = GENERATE(false, true);
  const int status = GENERATE(409, 404);
  if (is_new && status == 404) return;  // then its namespace is missing
  INFO(status << (is_new ? " from the beginning" : ""));
  bench.refused_write = status;
  if (is_new) {
    bench.stored.reset();
    bench.begin("you");
  } else {
    bench.wait(2s);
  }
  CHECK(bench.told().size() == 1);
  const std::size_t asked = bench.transport.seen().size();
  bench.wait(2s);
  CHECK(bench.told().size() == 1);
  CHECK(bench.transport.seen().size() == asked + 3);  // read, refused, read
  bench.refused_write = 0;
  const int before = bench.written;
  bench.wait(2s);
  CHECK(bench.written == before + 1);
  CHECK(bench.told().empty());
}

TEST_CASE("the next process learns whether a mark was given back", "[store_mark]") {
  MarkBench bench;
  CHECK(bench.claims == std::vector{false});  // there was none: nothing is known
  bench.wait(6s);
  int given_back = 0;
  bench.mark->give_back(1s, [&] { ++given_back; });
  bench.loop.run_ready();
  CHECK(given_back == 1);
  CHECK(bench.stored->spec.holder_identity.empty());
  const int version = bench.version;
  bench.wait(10s);
  CHECK(bench.version == version);  // and it is not written again

  bench.begin("you");
  CHECK(bench.claims == std::vector{false, true});
  CHECK(bench.stored->spec.holder_identity == "you");
  bench.mark->give_back(1s, [&] { ++given_back; });  // at once: the one before was the last
  bench.loop.run_ready();
  CHECK(given_back == 2);
  CHECK(bench.stored->spec.holder_identity.empty());

  bench.begin("they");
  bench.begin("we");  // without a word from the one before
  CHECK(bench.claims == std::vector{false, true, true, false});
  CHECK(bench.told().empty());
}

TEST_CASE("a mark that several processes have is not given back", "[store_mark]") {
  MarkBench bench;
  const auto give_back = [&] {
    bool done = false;
    bench.mark->give_back(1s, [&] { done = true; });
    bench.loop.run_ready();
    CHECK(done);
  };
  const auto another_writes = [&] {
    bench.stored->spec.holder_identity = "another";
    bench.stored->metadata.resource_version = std::to_string(++bench.version);
  };
  SECTION("another one has written it") {
    bench.wait(20s);
    another_writes();
    bench.wait(2s);
  }
  SECTION("another one may have it, which has not written since") { bench.wait(2s); }
  SECTION("one that ended without a word may have begun a bind just before") { bench.wait(4s); }
  SECTION("another one writes it just now") {
    bench.wait(20s);
    another_writes();
  }
  give_back();
  CHECK_FALSE(bench.stored->spec.holder_identity.empty());
  CHECK(bench.told().empty());
}

TEST_CASE("giving a mark back awaits an open write, and no longer than its limit", "[store_mark]") {
  MarkBench bench;
  bench.wait(20s);
  bench.held_back = true;
  bench.wait(2s);
  REQUIRE(bench.held.size() == 1);
  bool done = false;
  bench.mark->give_back(1s, [&] { done = true; });
  bench.loop.run_ready();
  CHECK_FALSE(done);
  SECTION("it is answered") {
    bench.held_back = false;
    bench.answer(bench.held.front());
    bench.loop.run_ready();
    CHECK(done);
    CHECK(bench.stored->spec.holder_identity.empty());
  }
  SECTION("it is not") {
    bench.wait(1s);
    CHECK(done);
    CHECK(bench.stored->spec.holder_identity == "me");
  }
}

TEST_CASE("a mark that was stopped tells nothing", "[store_mark]") {
  MarkBench bench;
  bench.refusal = 500;
  bench.mark->stop();
  bench.wait(1h);
  CHECK(bench.told().empty());
}

TEST_CASE("an answer after the end of a mark is for nobody", "[store_mark]") {
  MarkBench bench;
  bench.held_back = true;
  bench.wait(2s);
  REQUIRE(bench.held.size() == 1);
  SECTION("it was stopped") { bench.mark->stop(); }
  SECTION("it is gone") { bench.mark.reset(); }
  bench.answer(bench.held.front());
  bench.wait(1h);
  CHECK(bench.written == 1);
  CHECK(bench.held.size() == 1);
  CHECK(bench.told().empty());
}

}  // namespace
}  // namespace k8s
