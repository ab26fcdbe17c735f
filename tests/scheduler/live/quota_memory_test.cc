#include "scheduler/live/writes/quota_memory.h"

#include "k8s-client/api/encode.h"
#include "tests/support/catch.h"
#include "tests/support/gpu_quotas.h"
#include "tests/support/manual_loop.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using k8s::GpuQuota;
using sched::live::QuotaMemory;
using Quotas = std::vector<GpuQuota>;

constexpr k8s::Timestamp kThen{std::chrono::sys_days{std::chrono::year{2026} / 3 / 4}};

GpuQuota quota(const std::string& name, std::optional<k8s::Timestamp> deleted = {}) {
  GpuQuota made = tests::gpu_quota(name).of(name + "-ns").selects(tests::selector({{"t", name}}));
  made.metadata = {};
  made.metadata.name = name;
  made.metadata.creation_timestamp = kThen;
  made.metadata.deletion_timestamp = deleted;
  return made;
}

// A server with one ConfigMap, which answers when it is told to.
struct QuotaMemoryBench {
  struct Call {
    std::string what;
    std::function<void()> carry_out;
    QuotaMemory::Calls::Done done;
  };

  static k8s::Result<k8s::ConfigMap> error(int status) {
    return error(status, status == 404 ? "NotFound" : "");
  }
  static k8s::Result<k8s::ConfigMap> error(int status, const std::string& reason) {
    k8s::Error error;
    error.kind = k8s::ErrorKind::kStatus;
    error.http_status = status;
    error.reason = reason;
    return tl::unexpected<k8s::Error>(std::move(error));
  }
  void put(const k8s::StringMap& data) {
    k8s::ConfigMap map;
    map.metadata.resource_version = std::to_string(++versions);
    map.data = data;
    stored = map;
  }
  // Carries the open call out, and says which it was.
  std::string answer() {
    REQUIRE(calls.size() == 1);
    Call call = std::move(calls.front());
    calls.pop_front();
    call.carry_out();
    return call.what;
  }
  std::string fail(int status) { return fail_with(error(status)); }
  // Something before the server answers.
  std::string misroute() { return fail_with(error(404, "")); }
  std::string fail_with(k8s::Result<k8s::ConfigMap> why) {
    REQUIRE(calls.size() == 1);
    Call call = std::move(calls.front());
    calls.pop_front();
    call.done(std::move(why));
    return call.what;
  }
  void read() {
    memory.read([this](Quotas quotas) { remembered = std::move(quotas); });
  }

  tests::ManualLoop loop;
  std::deque<Call> calls;
  std::optional<k8s::ConfigMap> stored;
  int versions = 0;
  int problems = 0;
  int answered = 0;
  std::optional<Quotas> remembered;
  QuotaMemory memory{
      loop,
      {.get =
           [this](auto done) {
             calls.push_back({"get", [this, done] { done(stored ? *stored : error(404)); }, done});
           },
       .create =
           [this](const k8s::StringMap& data, auto done) {
             calls.push_back({"create",
                              [this, data, done] {
                                if (stored) return done(error(409));
                                put(data);
                                done(*stored);
                              },
                              done});
           },
       .update =
           [this](const k8s::ConfigMap& map, auto done) {
             calls.push_back({"update",
                              [this, map, done] {
                                if (!stored) return done(error(404));
                                const bool old = stored->metadata.resource_version !=
                                                 map.metadata.resource_version;
                                if (old) return done(error(409));
                                put(map.data);
                                done(*stored);
                              },
                              done});
           }},
      {.interval = 1s, .back_off = {.first = 1s, .limit = 4s, .jitter = 0}},
      {.on_problem = [this](const k8s::Error&, auto) { ++problems; },
       .on_answered = [this] { ++answered; }}};
};

TEST_CASE("what is to be remembered of quotas is written and read again") {
  const Quotas quotas{quota("a"), quota("b", kThen + 5s)};
  QuotaMemoryBench first;
  first.read();
  CHECK(first.answer() == "get");
  CHECK(first.remembered == Quotas{});
  first.memory.want(quotas);
  const int answered = first.answered;
  CHECK(first.answer() == "create");
  CHECK(first.answered == answered + 1);
  first.memory.want(quotas);
  CHECK(first.calls.empty());

  QuotaMemoryBench second;
  second.stored = first.stored;
  second.read();
  CHECK(second.answer() == "get");
  CHECK(second.remembered == quotas);
  second.memory.want(quotas);
  CHECK(second.calls.empty());  // it is there
  second.memory.want({});
  CHECK(second.answer() == "update");
  CHECK(second.stored->data.empty());
  CHECK(second.problems == 0);
}

TEST_CASE("writes are a second apart, and the last word counts") {
  QuotaMemoryBench bench;
  bench.read();
  bench.answer();
  bench.memory.want({quota("a")});
  bench.memory.want({quota("b")});
  CHECK(bench.answer() == "create");
  CHECK(bench.stored->data.find("a") != nullptr);
  bench.loop.advance(999ms);
  CHECK(bench.calls.empty());
  bench.loop.advance(1ms);
  CHECK(bench.answer() == "update");
  CHECK(bench.stored->data.find("a") == nullptr);
  CHECK(bench.stored->data.find("b") != nullptr);
}

TEST_CASE("what somebody else wrote or took away is read anew, and put right") {
  QuotaMemoryBench bench;
  bench.read();
  bench.answer();
  bench.memory.want({quota("a")});
  bench.answer();
  bench.loop.advance(1s);
  std::string refused;
  SECTION("written") {
    bench.put({{"a", "{}"}});
    bench.memory.want({quota("b")});
    refused = bench.answer();
    bench.loop.advance(1s);
    CHECK(bench.answer() == "get");
    CHECK(bench.answer() == "update");
  }
  SECTION("taken away") {
    bench.stored.reset();
    bench.memory.want({quota("b")});
    refused = bench.answer();
    bench.loop.advance(1s);
    CHECK(bench.answer() == "get");
    CHECK(bench.answer() == "create");
  }
  CHECK(refused == "update");
  CHECK(bench.stored->data.size() == 1);
  CHECK(bench.stored->data.find("b") != nullptr);
  CHECK(bench.problems == 0);
}

TEST_CASE("an object that cannot be created is a problem, and tried again") {
  QuotaMemoryBench bench;
  bench.read();
  bench.answer();
  bench.memory.want({quota("a")});
  CHECK(bench.fail(404) == "create");  // its namespace does not exist
  CHECK(bench.problems == 1);
  bench.loop.advance(1s);
  CHECK(bench.answer() == "get");
  CHECK(bench.answer() == "create");
  CHECK(bench.stored->data.size() == 1);
}

TEST_CASE("writes that are always refused become rare, and stay one problem") {
  QuotaMemoryBench bench;
  bench.read();
  bench.answer();
  const int answered = bench.answered;
  bench.memory.want({quota("a")});
  for (const auto pause : {1s, 2s, 4s, 4s}) {
    CHECK(bench.fail(403) == "create");
    bench.loop.advance(pause - 1ms);
    CHECK(bench.calls.empty());
    bench.loop.advance(1ms);
    CHECK(bench.answer() == "get");
  }
  CHECK(bench.answered == answered);
  SECTION("until one is taken") { CHECK(bench.answer() == "create"); }
  SECTION("until one turns out to have been carried out") {
    bench.put({{"a", k8s::encode(quota("a"))}});
    CHECK(bench.fail(500) == "create");
    bench.loop.advance(4s);
    CHECK(bench.answer() == "get");
    CHECK(bench.calls.empty());
  }
  CHECK(bench.answered == answered + 1);
}

TEST_CASE("nothing is decided on before it is known what was there") {
  QuotaMemoryBench bench;
  bench.put({{"a", k8s::encode(quota("a"))}, {"odd", "{"}, {"x", k8s::encode(quota("y"))}});
  bench.read();
  SECTION("an answer is asked for until there is one") {
    CHECK(bench.fail(500) == "get");
    CHECK(bench.problems == 1);
    CHECK_FALSE(bench.remembered);
    bench.loop.advance(1s);
    CHECK(bench.answer() == "get");
    CHECK(bench.remembered == Quotas{quota("a")});  // and what cannot be read is left out
  }
  SECTION("a 404 that is not the API server's is none") {
    CHECK(bench.misroute() == "get");
    CHECK(bench.problems == 1);
    CHECK_FALSE(bench.remembered);
    bench.loop.advance(1s);
    CHECK(bench.answer() == "get");
    CHECK(bench.remembered == Quotas{quota("a")});
    bench.memory.want({quota("b")});
    CHECK(bench.misroute() == "update");
    CHECK(bench.problems == 2);
    bench.loop.advance(1s);
    CHECK(bench.answer() == "get");
    CHECK(bench.answer() == "update");
  }
  SECTION("a server that refuses while it starts has not said that there is nothing") {
    CHECK(bench.fail(403) == "get");
    CHECK(bench.problems == 1);
    CHECK_FALSE(bench.remembered);
    bench.loop.advance(1s);
    CHECK(bench.fail(500) == "get");
    bench.loop.advance(2s);
    CHECK(bench.answer() == "get");
    CHECK(bench.remembered == Quotas{quota("a")});
  }
  SECTION("but one who may not read it for half a minute remembers nothing, and is told of it") {
    for (const auto pause : {1s, 2s, 4s, 4s, 4s, 4s, 4s, 4s, 3s}) {
      CHECK(bench.fail(403) == "get");
      CHECK_FALSE(bench.remembered);
      bench.loop.advance(pause);
    }
    CHECK(bench.fail(403) == "get");
    CHECK(bench.remembered == Quotas{});
    CHECK(bench.problems == 10);
    CHECK(bench.calls.empty());
  }
  SECTION("and what fails is not lost") {
    CHECK(bench.answer() == "get");
    bench.memory.want({quota("b")});
    CHECK(bench.fail(500) == "update");
    bench.loop.advance(1s);
    CHECK(bench.answer() == "get");
    CHECK(bench.answer() == "update");
    CHECK(bench.stored->data.find("b") != nullptr);
  }
  SECTION("after the end nothing is called") {
    bench.memory.stop();
    bench.fail(500);
    bench.loop.advance(10s);
    CHECK(bench.calls.empty());
    CHECK_FALSE(bench.remembered);
  }
}

TEST_CASE("of more than an object may hold the deleted ones are remembered") {
  QuotaMemoryBench bench;
  bench.read();
  bench.answer();
  Quotas many;
  for (int i = 0; i < 10'000; ++i) many.push_back(quota("q" + std::to_string(i)));
  many.push_back(quota("z", kThen));
  bench.memory.want(many);
  bench.answer();
  CHECK(bench.stored->data.find("z") != nullptr);
  CHECK(bench.stored->data.size() > 2'000);
  std::size_t bytes = 0;
  for (const auto& [name, text] : bench.stored->data) bytes += name.size() + text.size();
  CHECK(bytes <= 1'000'000);
}

TEST_CASE("an object of quotas is filled to the last byte that it may have") {
  constexpr std::size_t kMost = 900'000;
  const bool fits = GENERATE(true, false);
  QuotaMemoryBench bench;
  bench.read();
  bench.answer();
  const std::size_t size = 1 + k8s::encode(quota("a", kThen)).size();  // with the name
  GpuQuota large = quota("b", kThen);
  const std::size_t rest = kMost - size - 1 - k8s::encode(large).size();
  large.spec.namespaces.front() += std::string(rest + (fits ? 0 : 1), 'x');
  bench.memory.want({quota("a", kThen), large});
  bench.answer();
  CHECK((bench.stored->data.find("b") != nullptr) == fits);
  CHECK(bench.stored->data.find("a") != nullptr);
}

TEST_CASE("an answer after the end of the memory of quotas is for nobody") {
  tests::ManualLoop loop;
  QuotaMemory::Calls::Done late;
  {
    QuotaMemory memory(loop,
                       {.get = [&](auto done) { late = std::move(done); },
                        .create = [](const auto&, auto) {},
                        .update = [](const auto&, auto) {}},
                       {},
                       {.on_problem = [](const k8s::Error&, auto) { FAIL("told"); },
                        .on_answered = [] { FAIL("told"); }});
    memory.read([](const Quotas&) { FAIL("told"); });
  }
  REQUIRE(late);
  late(k8s::ConfigMap{});
}

}  // namespace
