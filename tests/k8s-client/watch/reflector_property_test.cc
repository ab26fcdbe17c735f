#include "k8s-client/watch/reflector.h"
#include "tests/k8s-client/watch/model_server.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <map>
#include <random>
#include <set>

namespace k8s {
namespace {

using tests::ModelServer;

// Keeps objects by name, as trusting as a reader may be, and checks what it was promised.
class Reader {
 public:
  [[nodiscard]] ReflectorHandler<Pod> handler() {
    ReflectorHandler<Pod> handler;
    handler.on_upsert = [this](const Pod& pod) { upsert(pod.metadata); };
    handler.on_delete = [this](const ObjectKey& key) { remove(key); };
    handler.on_synced = [this] { ++synced_; };
    return handler;
  }

  [[nodiscard]] const ModelServer::Objects& objects() const { return objects_; }
  [[nodiscard]] int synced() const { return synced_; }

 private:
  void upsert(const ObjectMeta& metadata) {
    const int version = std::stoi(metadata.resource_version);
    const auto found = objects_.find(metadata.name);
    if (found != objects_.end()) {
      // Never another one under a name that is taken, and never back in time.
      REQUIRE(found->second.uid == metadata.uid);
      REQUIRE(found->second.version <= version);
    }
    REQUIRE_FALSE(gone_.contains(metadata.uid));
    objects_[metadata.name] = {metadata.uid, version};
  }

  void remove(const ObjectKey& key) {
    const auto found = objects_.find(key.name);
    REQUIRE(found != objects_.end());
    REQUIRE(found->second.uid == key.uid);
    objects_.erase(found);
    gone_.insert(key.uid);
  }

  ModelServer::Objects objects_;
  std::set<std::string> gone_;
  int synced_ = 0;
};

void play(std::uint64_t seed, bool streamed_lists, std::map<std::string, int>& faults) {
  CAPTURE(seed, streamed_lists);
  tests::ManualLoop loop;
  tests::FakeTransport transport(loop);
  ModelServer server(seed, streamed_lists);
  Reader reader;
  Reflector<Pod> reflector(transport, loop, {"/api/v1/pods", "", ""}, reader.handler(),
                           {.page_size = 3, .seed = seed});
  transport.serve([&server](const std::shared_ptr<tests::FakeCall>& call) { server.serve(call); });
  for (int i = 0; i < 10; ++i) server.change_something();
  reflector.start();

  std::mt19937_64 random(seed);
  for (int step = 0; step < 300; ++step) {
    server.change_something();
    if (random() % 3 == 0) server.push();
    if (random() % 40 == 0) server.compact();
    loop.advance(std::chrono::milliseconds{random() % 20'000});
  }
  server.stop_faults();
  for (int minute = 0; minute < 10; ++minute) {
    loop.advance(std::chrono::seconds{59});
    server.push();
    loop.run_ready();
  }
  REQUIRE(reader.objects() == server.objects());
  REQUIRE(reader.synced() == 1);
  for (const auto& [name, count] : server.faults()) faults[name] += count;
}

TEST_CASE("whatever fails on the way, the reader ends up with what the server has", "[watch]") {
  std::map<std::string, int> faults;
  const std::uint64_t seeds = tests::amount(30, 60);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    play(seed, true, faults);
    play(seed, false, faults);
  }
  // Each kind of fault did occur.
  for (const char* kind :
       {"refused", "429", "500", "410", "504", "422", "garbage", "410 at opening", "410 within",
        "streamed list broken off", "broken within a line", "end", "unreadable event"}) {
    CAPTURE(kind);
    CHECK(faults[kind] > 0);
  }
}

}  // namespace
}  // namespace k8s
