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

// An API server that has this one lease.
struct MarkBench {
  explicit MarkBench(int refused = 0) : refusal(refused) {
    transport.serve([this](const std::shared_ptr<tests::FakeCall>& call) { answer(call); });
    mark = std::make_unique<StoreMark>(
        client, loop, StoreMark::Options{.namespace_ = "ours", .name = "mark", .identity = "me"},
        StoreMark::Hooks{.on_went_back = [this](const std::string& why) { log.push_back(why); },
                         .on_problem =
                             [this](const Error& error, std::chrono::milliseconds) {
                               log.push_back("problem: " + error.message);
                             },
                         .on_written = [this] { ++written; }},
        [this] {
          return Timestamp(
              std::chrono::duration_cast<std::chrono::microseconds>(loop.now().time_since_epoch()));
        });
    mark->start();
    loop.run_ready();
  }

  void answer(const std::shared_ptr<tests::FakeCall>& call) {
    if (refusal != 0) return call->respond(refusal, "");
    const auto method = call->request().method;
    if (method == Method::kGet || (method == Method::kPut && !stored)) {
      return stored ? call->respond(200, encode(*stored)) : call->respond(404, "");
    }
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
  bool answers_are_lost = false;
  int written = 0;
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
      ": its store has gone back in time, as when etcd is restored from a backup, or somebody "
      "deleted it";
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

TEST_CASE("a mark that was stopped tells nothing", "[store_mark]") {
  MarkBench bench;
  bench.refusal = 500;
  bench.mark->stop();
  bench.wait(1h);
  CHECK(bench.told().empty());
}

}  // namespace
}  // namespace k8s
