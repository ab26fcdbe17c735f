// From standby to leader to the end: what may be done when.
#include "scheduler/live/leadership/leadership.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/scheduler/live/captured_log.h"
#include "tests/scheduler/live/leadership/pods_server.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/manual_loop.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::bind_times;
using sched::live::Leadership;

using Lines = std::vector<std::string>;

// The API server's side of one lease.
class LeaseServer {
 public:
  explicit LeaseServer(tests::ManualLoop& loop) : transport(loop) {
    transport.serve([this](const std::shared_ptr<tests::FakeCall>& call) {
      if (!silent) answer(call);
    });
  }

  void hold(const std::string& holder) {
    k8s::Lease held;
    held.metadata.namespace_ = "gpu-scheduler";
    held.metadata.name = "gpu-scheduler";
    held.metadata.resource_version = std::to_string(++version_);
    held.spec.holder_identity = holder;
    held.spec.lease_duration_seconds = 15;
    held.spec.renew_time = k8s::Timestamp(std::chrono::seconds(version_));
    lease = held;
  }

  tests::FakeTransport transport;
  std::optional<k8s::Lease> lease;
  bool silent = false;
  bool failing = false;

 private:
  void answer(const std::shared_ptr<tests::FakeCall>& call) {
    if (failing) return call->respond(500, "");
    const auto method = call->request().method;
    if (!lease && method != k8s::Method::kPost) return call->respond(404, "");
    if (method != k8s::Method::kGet) {
      auto sent = k8s::Decoder().object<k8s::Lease>(call->request().body);
      REQUIRE(sent);
      if (lease && sent->metadata.resource_version != lease->metadata.resource_version) {
        return call->respond(409, "");
      }
      sent->metadata.resource_version = std::to_string(++version_);
      lease = *sent;
    }
    call->respond(200, k8s::encode(*lease));
  }

  int version_ = 0;
};

struct LeadershipBench {
  explicit LeadershipBench(std::chrono::seconds lease_duration = 15s) { make(lease_duration); }

  void make(std::chrono::seconds lease_duration = 15s) {
    leadership = std::make_unique<Leadership>(
        Leadership::Api{client, pods.transport, {}}, loop,
        Leadership::Options{.election = {.namespace_ = "gpu-scheduler",
                                         .name = "gpu-scheduler",
                                         .identity = "me",
                                         .lease_duration = lease_duration},
                            .bind_times = bind_times(lease_duration),
                            .scheduler_names = {"gpu-scheduler"}},
        Leadership::Hooks{
            .on_may_decide = [this] { log.emplace_back("decide"); },
            .on_gate_open = [this] { ++gate_openings; },
            .on_lost = [this](const std::string& why) { log.push_back("lost: " + why); },
            .on_problem = [this](const std::string& source, const k8s::Error&,
                                 auto) { problems.push_back(source); },
            .on_progress = [this](const std::string& source) { ++progress[source]; },
            .on_leads = [this](bool leads) { log.emplace_back(leads ? "leads" : "follows"); },
            .on_leader = [this](const std::string& identity) { leaders.push_back(identity); }},
        [this] {
          const auto since = loop.now().time_since_epoch();
          return k8s::ElectionTime{
              k8s::BootClock::time_point(since),
              k8s::Timestamp(std::chrono::duration_cast<std::chrono::microseconds>(since))};
        });
  }
  void start() {
    leadership->start();
    loop.run_ready();
  }
  void lead() {
    lease.hold("");
    start();
    leadership->on_watches_synced();
    REQUIRE(told() == Lines{"leads", "decide"});
  }
  Lines told() { return std::exchange(log, {}); }

  tests::ManualLoop loop;
  LeaseServer lease{loop};
  tests::PodsServer pods{loop};
  k8s::Client client{lease.transport, loop};
  Lines log;
  Lines leaders;
  Lines problems;
  std::map<std::string, int> progress;  // how often each source was said to work
  int gate_openings = 0;
  std::unique_ptr<Leadership> leadership;
};

}  // namespace

TEST_CASE("a standby may neither decide nor bind") {
  LeadershipBench bench;
  bench.lease.hold("other");
  bench.start();
  bench.leadership->on_watches_synced();
  for (int i = 0; i < 10; ++i) {
    bench.loop.advance(5s);
    bench.lease.hold("other");
  }
  CHECK(bench.told().empty());
  CHECK(bench.leaders == Lines{"other"});
  CHECK_FALSE(bench.leadership->may_bind());
  CHECK_FALSE(bench.leadership->leads());
  CHECK(bench.pods.reads() == 0);
}

TEST_CASE("a standby tells when it cannot read the lease, and when it can again") {
  LeadershipBench bench;
  bench.lease.hold("other");
  bench.start();
  CHECK(bench.problems.empty());
  bench.lease.failing = true;
  bench.loop.advance(3s);
  CHECK_FALSE(bench.problems.empty());
  const int before = bench.progress["lease"];
  bench.problems.clear();
  bench.lease.failing = false;
  bench.loop.advance(3s);
  CHECK(bench.progress["lease"] > before);
  CHECK(bench.problems.empty());
  CHECK(bench.told().empty());
}

TEST_CASE("after a takeover it decides as soon as its watch has caught up") {
  LeadershipBench bench;
  SECTION("the lease was given back") {
    bench.lease.hold("");
    bench.start();
  }
  SECTION("the lease expired") {
    bench.lease.hold("other");
    bench.start();
    bench.loop.advance(14'999ms);
    CHECK(bench.told().empty());
    bench.loop.advance(1ms);
  }
  CHECK(bench.told() == Lines{"leads"});
  CHECK(bench.pods.reads() == 1);
  bench.leadership->on_watches_synced();
  CHECK(bench.told() == Lines{"decide"});
  CHECK(bench.leadership->may_bind());
  CHECK(bench.gate_openings == 1);
}

TEST_CASE("it waits for what the predecessor bound last, and for its own watches") {
  LeadershipBench bench;
  const k8s::Pod last = tests::pod("last").uid("uid-last").served_by("gpu-scheduler").on("n1");
  bench.pods.pods = {last};
  bench.lease.hold("");
  bench.start();
  CHECK(bench.told() == Lines{"leads"});
  SECTION("watches first") {
    bench.leadership->on_watches_synced();
    CHECK(bench.told().empty());
    bench.leadership->on_pod(last);
  }
  SECTION("the pod first") {
    bench.leadership->on_pod(last);
    CHECK(bench.told().empty());
    bench.leadership->on_watches_synced();
  }
  SECTION("the pod is gone") {
    bench.leadership->on_watches_synced();
    bench.leadership->on_pod_gone("uid-last");
  }
  CHECK(bench.told() == Lines{"decide"});
}

TEST_CASE("where there was no lease, nothing is read before an unknown predecessor is over") {
  LeadershipBench bench;
  bench.start();
  bench.leadership->on_watches_synced();
  CHECK(bench.told() == Lines{"leads"});
  bench.loop.advance(14'999ms);
  CHECK(bench.pods.reads() == 0);
  bench.loop.advance(1ms);
  CHECK(bench.told() == Lines{"decide"});
}

TEST_CASE("a leader that ends before an unknown predecessor is over does not vouch for it") {
  LeadershipBench bench;
  const auto release = [&bench] {
    bool done = false;
    bench.leadership->release(5s, [&done] { done = true; });
    bench.loop.run_ready();
    CHECK(done);
    CHECK(bench.lease.lease->spec.holder_identity.empty());
    bench.told();
  };
  const auto decides_at_once = [&bench] {
    bench.make();
    bench.start();
    bench.leadership->on_watches_synced();
    return bench.told() == Lines{"leads", "decide"};
  };
  bench.start();
  bench.leadership->on_watches_synced();
  SECTION("then the next leader waits, too") {
    bench.loop.advance(14s);
    release();
    CHECK_FALSE(decides_at_once());
    bench.loop.advance(15s);
    CHECK(bench.told() == Lines{"decide"});
    release();
    CHECK(decides_at_once());
  }
  SECTION("after that it does") {
    bench.loop.advance(15s);
    release();
    CHECK(decides_at_once());
  }
}

TEST_CASE("an unknown predecessor may have had longer than our lease lasts") {
  // The most that a bind may take to land, deadline and margin, is more than a lease of 5 s.
  const sched::live::BindTimes most;
  REQUIRE(most.deadline + most.margin > 5s);
  LeadershipBench bench(5s);
  bench.start();
  bench.leadership->on_watches_synced();
  bench.loop.advance(most.deadline + most.margin - 1ms);
  CHECK(bench.pods.reads() == 0);
  bench.loop.advance(1ms);
  CHECK(bench.told() == Lines{"leads", "decide"});
}

TEST_CASE("while renewals do not get through, the gate closes long before the lease ends") {
  LeadershipBench bench;
  bench.lead();
  bench.loop.advance(2s);  // a renewal
  CHECK(bench.gate_openings == 2);
  bench.lease.silent = true;
  bench.loop.advance(8'800ms);
  CHECK(bench.leadership->may_bind());
  bench.loop.advance(100ms);  // 9 s of the lease, less 1 %
  CHECK_FALSE(bench.leadership->may_bind());
  CHECK(bench.leadership->leads());
  SECTION("a renewal gets through after all") {
    bench.lease.silent = false;
    bench.loop.advance(1'050ms);
    CHECK(bench.told().empty());
    CHECK(bench.leadership->may_bind());
  }
  SECTION("none does") {
    bench.loop.advance(2s);
    const Lines told = bench.told();
    REQUIRE(told.size() == 2);
    CHECK(told[0] == "follows");
    CHECK_THAT(told[1], Catch::StartsWith("lost: the lease was not renewed for 10"));
    CHECK_FALSE(bench.leadership->may_bind());
    CHECK(bench.problems.size() > 1);
  }
}

TEST_CASE("a lease that goes back in time ends it, for one that stands by as well") {
  LeadershipBench bench;
  bench.lease.hold("other");
  bench.lease.hold("other");
  bench.leadership->start();
  bench.loop.advance(1s);
  CHECK(bench.told() == Lines{});
  bench.lease.lease->metadata.resource_version = "1";
  bench.loop.advance(1s);
  CHECK(bench.told() == Lines{"follows",
                              "lost: the lease is at version 1 after 2: its store has "
                              "gone back in time, as when etcd is restored from a backup"});
  bench.loop.advance(1h);
  CHECK(bench.told().empty());
}

TEST_CASE("a lease in another's name ends it at once") {
  LeadershipBench bench;
  bench.lead();
  bench.lease.hold("other");
  bench.loop.advance(2s);
  CHECK(bench.told() == Lines{"follows", "lost: the lease is held by other"});
  CHECK_FALSE(bench.leadership->may_bind());
  bench.loop.advance(1h);
  CHECK(bench.told().empty());
}

TEST_CASE("giving the lease back ends it: nothing is sent any more") {
  LeadershipBench bench;
  bool done = false;
  bench.lead();
  tests::CapturedLog log;
  bench.leadership->release(5s, [&done] { done = true; });
  CHECK_FALSE(bench.leadership->may_bind());
  bench.loop.run_ready();
  CHECK(done);
  CHECK_THAT(log.take(), Catch::StartsWith("gave the lease back"));
  CHECK(bench.told() == Lines{"follows"});
  CHECK(bench.lease.lease->spec.holder_identity.empty());
  CHECK(bench.lease.lease->spec.lease_duration_seconds == 1);
}

TEST_CASE("a lease that could not be given back is not said to be") {
  LeadershipBench bench;
  bool done = false;
  bench.lead();
  tests::CapturedLog log;
  SECTION("the server does not answer in time") {
    bench.lease.silent = true;
    bench.leadership->release(5s, [&done] { done = true; });
    bench.loop.advance(5s);
  }
  SECTION("another one holds it") {
    bench.lease.hold("other");
    bench.leadership->release(5s, [&done] { done = true; });
    bench.loop.run_ready();
  }
  SECTION("it is gone") {
    bench.lease.lease.reset();
    bench.leadership->release(5s, [&done] { done = true; });
    bench.loop.run_ready();
  }
  CHECK(done);
  CHECK_THAT(log.take(), Catch::Contains("the lease could not be given back") &&
                             !Catch::Contains("gave the lease back"));
}

TEST_CASE("a standby that is asked to go does not touch the lease") {
  LeadershipBench bench;
  bool done = false;
  bench.lease.hold("other");
  bench.start();
  bench.leadership->release(5s, [&done] { done = true; });
  bench.loop.run_ready();
  CHECK(done);
  CHECK(bench.lease.lease->spec.holder_identity == "other");
}
