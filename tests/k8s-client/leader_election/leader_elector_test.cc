// The driver: what is sent to the API server, and which callbacks come when.
#include "k8s-client/leader_election/leader_elector.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <memory>
#include <string>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPath = "/apis/coordination.k8s.io/v1/namespaces/kube/leases";

struct Bench {
  Bench() { elector = std::make_unique<LeaderElector>(client, loop, options(), hooks(), clock()); }

  static ElectionOptions options() {
    return {.namespace_ = "kube", .name = "scheduler", .identity = "me"};
  }
  LeaderElector::Hooks hooks() {
    return {
        .on_started_leading = [this] { log.emplace_back("leads"); },
        .on_renewed = [this] { log.emplace_back("renewed"); },
        .on_stopped_leading = [this](const std::string& why) { log.push_back("lost: " + why); },
        .on_new_leader = [this](const std::string& who) { log.push_back("leader: " + who); },
        .on_problem = [this](const Error& error) { log.push_back("problem: " + error.message); },
        .on_answered = [this] { ++answered; }};
  }
  LeaderElector::Clock clock() {
    return [this] {
      const auto since = loop.now().time_since_epoch();
      return ElectionTime{BootClock::time_point(since),
                          Timestamp(std::chrono::duration_cast<std::chrono::microseconds>(since))};
    };
  }

  // Answers the oldest request.
  void answer_lease(const std::string& holder) {
    Lease lease;
    lease.metadata.namespace_ = "kube";
    lease.metadata.name = "scheduler";
    lease.metadata.resource_version = std::to_string(++version);
    lease.spec.holder_identity = holder;
    lease.spec.lease_duration_seconds = 15;
    lease.spec.renew_time = Timestamp(1s);
    transport.next()->respond(200, encode(lease));
    loop.run_ready();
  }
  // Accepts the oldest request's write; the lease as it was sent.
  Lease accept() {
    const auto call = transport.next();
    auto lease = Decoder().object<Lease>(call->request().body);
    REQUIRE(lease);
    const Lease sent = *lease;
    lease->metadata.resource_version = std::to_string(++version);
    call->respond(200, encode(*lease));
    loop.run_ready();
    return sent;
  }
  void refuse(int status) {
    transport.next()->respond(status, "");
    loop.run_ready();
  }
  std::vector<std::string> told() { return std::exchange(log, {}); }

  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  Client client{transport, loop};
  std::vector<std::string> log;
  int answered = 0;
  int version = 6;  // of the lease
  std::unique_ptr<LeaderElector> elector;
};

using Lines = std::vector<std::string>;

TEST_CASE("acquire, renew, lose: the requests and who is told", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.answer_lease("");
  const Lease taken = bench.accept();
  CHECK(taken.spec.holder_identity == "me");
  CHECK(taken.spec.lease_duration_seconds == 15);
  CHECK(taken.metadata.resource_version == "7");
  CHECK(bench.told() == Lines{"leads", "renewed"});
  CHECK(bench.elector->leads());

  bench.loop.advance(2s);
  CHECK(bench.accept().metadata.resource_version == "8");
  CHECK(bench.told() == Lines{"renewed"});

  bench.loop.advance(2s);
  bench.refuse(409);
  bench.answer_lease("other");
  CHECK(bench.told() == Lines{"leader: other", "lost: the lease is held by other"});
  bench.loop.advance(1h);
  CHECK_FALSE(bench.transport.has_next());
  const std::string path = kPath + std::string("/scheduler?timeout=5s");
  CHECK(bench.transport.seen() ==
        Lines{"GET " + path, "PUT " + path, "PUT " + path, "PUT " + path, "GET " + path});
}

TEST_CASE("a lease that is missing is created", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.refuse(404);
  const Lease created = bench.accept();
  CHECK(created.metadata.namespace_ == "kube");
  CHECK(created.metadata.name == "scheduler");
  CHECK(bench.elector->election().origin() == Election::Origin::kCreated);
  CHECK(bench.transport.seen().back() == std::string("POST ") + kPath + "?timeout=5s");
}

TEST_CASE("what fails is told", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.refuse(403);
  bench.loop.advance(3s);
  bench.refuse(404);
  bench.refuse(404);  // of the create: there is no such namespace
  CHECK(bench.told() == Lines{R"(problem: leases "kube/scheduler": get: 403 Forbidden)",
                              R"(problem: leases "kube/scheduler": create: 404 Not Found)"});
  CHECK(bench.answered == 1);

  bench.loop.advance(3s);
  bench.refuse(409);  // which is no answer to a question
  CHECK(bench.told() == Lines{R"(problem: leases "kube/scheduler": get: 409 Conflict)"});
  CHECK(bench.answered == 1);
}

TEST_CASE("a conflict that is not about the version is told", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.answer_lease("");
  bench.accept();
  static_cast<void>(bench.told());
  bench.loop.advance(2s);
  bench.refuse(409);
  --bench.version;  // nobody has changed the lease
  bench.answer_lease("me");
  CHECK(bench.told() == Lines{R"(problem: leases "kube/scheduler": update: 409 Conflict)"});
  CHECK_FALSE(bench.transport.has_next());
  bench.loop.advance(2s);
  bench.accept();
  CHECK(bench.told() == Lines{"renewed"});
}

TEST_CASE("a follower is told who leads, once", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.answer_lease("other");
  bench.loop.advance(3s);
  bench.answer_lease("other");
  bench.loop.advance(3s);
  bench.answer_lease("third");
  CHECK(bench.told() == Lines{"leader: other", "leader: third"});
  CHECK(bench.answered == 3);
}

TEST_CASE("an answer that cannot be read is a failure", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.transport.next()->respond(200, "what?");
  bench.loop.run_ready();
  REQUIRE(bench.log.size() == 1);
  CHECK_THAT(bench.log[0], Catch::StartsWith(R"(problem: leases "kube/scheduler": get: )"));
  bench.loop.advance(3s);
  CHECK(bench.transport.has_next());
}

TEST_CASE("giving back calls done once, whatever the server does", "[leader_elector]") {
  Bench bench;
  int done = 0;
  const auto release = [&] { bench.elector->release(5s, [&done] { ++done; }); };
  bench.elector->start();
  SECTION("a follower") {
    bench.answer_lease("other");
    release();
    CHECK(done == 0);  // not from within the call
    bench.loop.run_ready();
  }
  SECTION("a leader") {
    bench.answer_lease("");
    bench.accept();
    release();
    CHECK(done == 0);
    CHECK(bench.accept().spec.holder_identity.empty());
    CHECK(bench.told() == Lines{"leads", "renewed", "leader: "});
  }
  SECTION("a leader whose server does not answer") {
    bench.answer_lease("");
    bench.accept();
    release();
    bench.loop.advance(4'999ms);
    CHECK(done == 0);
    bench.loop.advance(1ms);
  }
  SECTION("one who is asked to go while he reaches for it") {
    bench.answer_lease("");
    release();
    bench.accept();
    CHECK(done == 0);
    bench.accept();
  }
  CHECK(done == 1);
  bench.loop.advance(1h);
  CHECK(done == 1);
}

TEST_CASE("after stop nobody is told anything", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.answer_lease("");
  bench.elector->stop();
  bench.accept();
  bench.loop.advance(1h);
  CHECK(bench.told().empty());
  CHECK_FALSE(bench.transport.has_next());
}

TEST_CASE("an answer may come when the elector is gone", "[leader_elector]") {
  Bench bench;
  bench.elector->start();
  bench.elector.reset();
  bench.answer_lease("");
  CHECK(bench.told().empty());
}

TEST_CASE("an identity names the host and is never the same twice", "[leader_elector]") {
  const std::string identity = make_identity("node-7");
  CHECK_THAT(identity,
             Catch::Matches("node-7_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}"
                            "-[0-9a-f]{12}"));
  CHECK(make_identity("node-7") != identity);
}

}  // namespace
}  // namespace k8s
