#include "scheduler/live/intake.h"

#include "k8s-client/api/encode.h"
#include "scheduler/framework/long_lists.h"
#include "scheduler/live/record/record.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_loop.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sched::live::Intake;
namespace event = sched::event;

constexpr std::string_view kInitialEventsEnd =
    R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
    R"({"k8s.io/initial-events-end":"true"}}}})"
    "\n";

constexpr std::string_view kQuotas = "/apis/gpu-scheduler.io/v1alpha1/gpuquotas";

// The two watches of pods, told apart by their field selectors.
bool is_of_pods(const std::string& target) {
  return target.find("/api/v1/pods?") != std::string::npos &&
         target.find("Succeeded") != std::string::npos;
}
bool is_of_failed_pods(const std::string& target) {
  return target.find("/api/v1/pods?") != std::string::npos && !is_of_pods(target);
}

// As an API server sends it: no object is without a version.
template <typename T>
std::string event_line(const std::string& type, T object) {
  object.metadata.resource_version = "7";
  return R"({"type":")" + type + R"(","object":)" + k8s::encode(object) + "}\n";
}

struct IntakeBench {
  // Answers each streamed list with `objects` of its kind and keeps the stream open.
  void serve() {
    transport.serve([this](const std::shared_ptr<tests::FakeCall>& call) {
      const std::string& target = call->request().target;
      const std::string path = target.substr(0, target.find('?'));
      if (path == refused) return call->respond(403, "{}");
      if (path == absent) return call->respond(404, "{}");
      call->open();
      if (is_of_failed_pods(call->request().target)) {
        for (const k8s::Pod& pod : failed) {
          call->send(event_line("ADDED", pod));
        }
        failed_stream = call;
      } else if (path == "/api/v1/pods") {
        for (const k8s::Pod& pod : pods) {
          call->send(event_line("ADDED", pod));
        }
        pod_stream = call;
      }
      if (path == "/api/v1/persistentvolumeclaims") {
        for (const k8s::PersistentVolumeClaim& claim : claims) {
          call->send(event_line("ADDED", claim));
        }
      }
      if (path == kQuotas && quota) {
        call->send(event_line("ADDED", *quota));
        quota_stream = call;
      }
      call->send(std::string(kInitialEventsEnd));
    });
  }
  [[nodiscard]] bool asked_for_pods() const {
    return std::any_of(transport.seen().begin(), transport.seen().end(), is_of_pods);
  }
  tests::ManualLoop loop;
  tests::FakeTransport transport{loop};
  std::vector<k8s::Pod> pods;
  std::vector<k8s::PersistentVolumeClaim> claims;
  std::optional<k8s::GpuQuota> quota;
  std::string refused;
  std::string absent;
  std::vector<k8s::Pod> failed;
  std::shared_ptr<tests::FakeCall> pod_stream;
  std::shared_ptr<tests::FakeCall> failed_stream;
  std::shared_ptr<tests::FakeCall> quota_stream;
  std::vector<sched::Event> events;
  std::vector<std::string> seen_pods;
  std::vector<std::string> seen_quotas;
  std::vector<std::string> problems;
  std::vector<std::string> recovered;
  std::vector<std::string> unreadable;
  bool synced = false;
  explicit IntakeBench(sched::ChangeMask reads_of_it = 0, bool reads_budgets = false)
      : reads(reads_of_it), budgets(reads_budgets) {}
  sched::ChangeMask reads;
  bool budgets;
  Intake intake{
      transport,
      loop,
      {.on_event = [this](sched::Event event) { events.push_back(std::move(event)); },
       .on_pod = [this](const k8s::Pod& pod) { seen_pods.push_back(pod.metadata.name); },
       .on_pod_gone = [this](const std::string& uid) { seen_pods.push_back("-" + uid); },
       .on_quota =
           [this](const k8s::GpuQuota& shown) { seen_quotas.push_back(shown.metadata.name); },
       .on_quota_gone = [this](const std::string& uid) { seen_quotas.push_back("-" + uid); },
       .on_quotas_presence =
           [this](bool present) { seen_quotas.push_back(present ? "on" : "off"); },
       .on_problem = [this](const std::string& kind, const k8s::Error&,
                            auto) { problems.push_back(kind); },
       .on_recovered = [this](const std::string& kind) { recovered.push_back(kind); },
       .on_unreadable =
           [this](const std::string&, const k8s::Error& why) {
             // "watch PATH: OBJECT: FIELD: what is wrong with it"
             const std::size_t from = why.message.find(": ") + 2;
             const std::size_t to = why.message.find("'", from);
             unreadable.push_back(why.message.substr(from, to - from));
           },
       .on_synced = [this] { synced = true; }},
      {},
      {.reads = reads, .disruption_budgets = budgets}};
};

}  // namespace

TEST_CASE("pods are not asked for before a predecessor's last bind must have landed") {
  IntakeBench bench;
  bench.serve();
  bench.intake.start(6s);
  bench.loop.advance(5'999ms);
  CHECK_FALSE(bench.asked_for_pods());
  CHECK_FALSE(bench.synced);
  bench.loop.advance(1ms);
  bench.loop.run_ready();
  CHECK(bench.asked_for_pods());
  CHECK(bench.synced);
}

TEST_CASE("finished pods are not asked for") {
  IntakeBench bench;
  bench.serve();
  bench.intake.start(0s);
  bench.loop.advance(1ms);
  const auto& seen = bench.transport.seen();
  const auto found = std::find_if(seen.begin(), seen.end(), is_of_pods);
  REQUIRE(found != seen.end());
  CHECK_THAT(*found, Catch::Contains("status.phase%21%3DSucceeded") ||
                         Catch::Contains("status.phase!%3DSucceeded") ||
                         Catch::Contains("status.phase!=Succeeded"));
}

TEST_CASE("pods come as events, deletions with their uid") {
  IntakeBench bench;
  bench.pods = {tests::pod("a").uid("uid-a"), tests::pod("b").uid("uid-b")};
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(2s);
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::PodUpserted>(bench.events[0]).object.metadata.name == "a");
  CHECK(std::get<event::PodUpserted>(bench.events[1]).object.metadata.name == "b");
  CHECK(bench.synced);
  bench.pod_stream->send(event_line("DELETED", bench.pods[0]));
  bench.loop.run_ready();
  REQUIRE(bench.events.size() == 3);
  const auto& gone = std::get<event::PodDeleted>(bench.events[2]).pod;
  CHECK(gone == sched::PodRef{"default", "a", "uid-a"});
  CHECK(bench.seen_pods == std::vector<std::string>{"a", "b", "-uid-a"});
}

TEST_CASE("the kinds of storage come as events, each from its path") {
  const auto named = []<typename Object>(Object object) {
    object.metadata.name = "x";
    object.metadata.uid = "uid-x";
    return object;
  };
  k8s::CsiStorageCapacity capacity;
  capacity.metadata.namespace_ = "ns";
  const auto lines = [&](const std::string& type) {
    const std::string storage = "/apis/storage.k8s.io/v1/";
    return std::map<std::string, std::string>{
        {"/api/v1/persistentvolumeclaims", event_line(type, named(tests::claim("x", "")))},
        {"/api/v1/persistentvolumes", event_line(type, named(tests::volume("x")))},
        {storage + "storageclasses", event_line(type, named(k8s::StorageClass()))},
        {storage + "csinodes", event_line(type, named(k8s::CsiNode()))},
        {storage + "csidrivers", event_line(type, named(k8s::CsiDriver()))},
        {storage + "csistoragecapacities", event_line(type, named(capacity))},
        {storage + "volumeattachments", event_line(type, named(k8s::VolumeAttachment()))}};
  };
  IntakeBench bench;
  std::map<std::string, std::shared_ptr<tests::FakeCall>> streams;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    const std::string& target = call->request().target;
    const std::string path = target.substr(0, target.find('?'));
    call->open();
    if (const auto added = lines("ADDED"); added.contains(path)) call->send(added.at(path));
    call->send(std::string(kInitialEventsEnd));
    streams[path] = call;
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  CHECK(bench.synced);
  for (const auto& [path, line] : lines("DELETED")) streams.at(path)->send(line);
  bench.loop.run_ready();
  // "StorageClass x", "-CSIStorageCapacity ns/x"
  std::vector<std::string> got;
  for (const sched::Event& each : bench.events) {
    got.push_back(std::visit(
        []<typename EventType>(const EventType& what) -> std::string {
          if constexpr (requires { what.object; }) {
            using Object = std::decay_t<decltype(what.object)>;
            return std::string(sched::kWatched<Object>.word) + " " + what.object.metadata.name;
          } else if constexpr (requires { what.namespace_; }) {
            return "-" + what.namespace_ + "/" + what.name;
          } else {
            return "another";
          }
        },
        each));
  }
  std::sort(got.begin(), got.end());
  CHECK(got == std::vector<std::string>{"-/x", "-/x", "-/x", "-/x", "-/x", "-default/x", "-ns/x",
                                        "CSIDriver x", "CSINode x", "CSIStorageCapacity x",
                                        "Claim x", "StorageClass x", "Volume x",
                                        "VolumeAttachment x"});
}

TEST_CASE("what selects pods is watched where a profile reads it alone") {
  const std::vector<std::string> paths = {"/api/v1/services", "/api/v1/replicationcontrollers",
                                          "/apis/apps/v1/replicasets",
                                          "/apis/apps/v1/statefulsets"};
  const auto asked = [&](const IntakeBench& bench) {
    std::vector<std::string> found;
    for (const std::string& path : paths) {
      const auto& seen = bench.transport.seen();
      if (std::any_of(seen.begin(), seen.end(), [&](const std::string& each) {
            return each.find(path + "?") != std::string::npos;
          })) {
        found.push_back(path);
      }
    }
    return found;
  };
  IntakeBench without(sched::kAnyChange & ~sched::kSelectorChanged);
  without.serve();
  without.intake.start(0s);
  without.loop.advance(1s);
  CHECK(without.synced);
  CHECK(asked(without).empty());

  IntakeBench with(sched::kSelectorChanged);
  with.serve();
  with.intake.start(0s);
  with.loop.advance(1s);
  CHECK(with.synced);
  CHECK(asked(with) == paths);
}

TEST_CASE("of what selects pods its name and selector are kept") {
  k8s::ReplicaSet set{.metadata = {}, .selector = k8s::LabelSelector()};
  set.metadata.name = "web-1";
  set.metadata.namespace_ = "ns";
  set.metadata.uid = "u";
  set.selector->match_labels.set("app", "web");
  k8s::ReplicaSet whole = set;
  whole.metadata.labels.set("app", "web");
  whole.metadata.annotations.set("deployment.kubernetes.io/revision", "1");
  whole.metadata.owner_references.push_back({"apps/v1", "Deployment", "web", "u2", true});
  IntakeBench bench(sched::kSelectorChanged);
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    call->open();
    if (call->request().target.starts_with("/apis/apps/v1/replicasets")) {
      call->send(event_line("ADDED", whole));
    }
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  REQUIRE(bench.events.size() == 1);
  auto got = std::get<event::Upserted<k8s::ReplicaSet>>(bench.events[0]).object;
  got.metadata.resource_version.clear();
  CHECK(got == set);
}

TEST_CASE("of a claim no labels are kept, and of its annotations those that are read") {
  k8s::PersistentVolumeClaim claim;
  claim.metadata.name = "data";
  claim.metadata.namespace_ = "ns";
  claim.metadata.uid = "u";
  claim.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  k8s::PersistentVolumeClaim whole = claim;
  whole.metadata.labels.set("app", std::string(100'000, 'x'));
  whole.metadata.annotations.set("note", "x");
  whole.metadata.annotations.set("volume.kubernetes.io/selected-node", std::string(100'000, 'x'));
  IntakeBench bench;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    call->open();
    if (call->request().target.starts_with("/api/v1/persistentvolumeclaims")) {
      call->send(event_line("ADDED", whole));
    }
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  REQUIRE(bench.events.size() == 1);
  auto got = std::get<event::VolumeClaimUpserted>(bench.events[0]).object;
  got.metadata.resource_version.clear();
  CHECK(got == claim);
}

TEST_CASE("disruption budgets are watched where a profile preempts alone") {
  k8s::PodDisruptionBudget budget;
  budget.metadata.name = "web";
  budget.metadata.namespace_ = "ns";
  budget.metadata.uid = "u";
  budget.selector = k8s::LabelSelector{.match_labels = {{"app", "web"}}, .match_expressions = {}};
  budget.disruptions_allowed = 1;
  budget.disrupted_pods = {"web-0"};
  k8s::PodDisruptionBudget whole = budget;
  whole.metadata.labels.set("app", "web");
  whole.metadata.annotations.set("kubectl.kubernetes.io/last-applied-configuration", "{…}");
  const auto started = [&whole](IntakeBench& bench) {
    bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
      call->open();
      if (call->request().target.starts_with("/apis/policy/v1/poddisruptionbudgets?")) {
        call->send(event_line("ADDED", whole));
        call->send(event_line("DELETED", whole));
      }
      call->send(std::string(kInitialEventsEnd));
    });
    bench.intake.start(0s);
    bench.loop.advance(1s);
    CHECK(bench.synced);
  };
  IntakeBench without(sched::kAnyChange);
  started(without);
  CHECK(without.events.empty());

  IntakeBench with(0, true);
  started(with);
  REQUIRE(with.events.size() == 3);
  auto got = std::get<event::DisruptionBudgetUpserted>(with.events[0]).object;
  got.metadata.resource_version.clear();
  CHECK(got == budget);
  const auto& gone = std::get<event::DisruptionBudgetDeleted>(with.events[1]);
  CHECK(gone.namespace_ == "ns");
  CHECK(gone.name == "web");
  CHECK(std::get<event::DisruptionBudgetsReadable>(with.events[2]).readable);
}

TEST_CASE("disruption budgets that may not be read are not taken for none") {
  IntakeBench bench(0, true);
  bench.refused = "/apis/policy/v1/poddisruptionbudgets";
  bench.serve();
  bench.intake.start(0s);
  for (int second = 0; second < 40; ++second) bench.loop.advance(1s);
  CHECK(bench.synced);
  REQUIRE(bench.events.size() == 1);
  CHECK_FALSE(std::get<event::DisruptionBudgetsReadable>(bench.events[0]).readable);
  bench.refused.clear();  // the right is granted
  for (int minute = 0; minute < 20; ++minute) bench.loop.advance(1min);
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::DisruptionBudgetsReadable>(bench.events[1]).readable);
}

TEST_CASE("annotations that nothing reads are not kept") {
  const k8s::StringMap of_pod{{"gpu-scheduler.io/gpu-type", "H100"}};
  const k8s::StringMap of_claim{{"pv.kubernetes.io/bind-completed", "yes"},
                                {"volume.kubernetes.io/selected-node", "n"}};
  IntakeBench bench;
  bench.pods = {tests::pod("a")};
  bench.claims = {tests::claim("a", "")};
  bench.pods[0].metadata.annotations = of_pod;
  bench.claims[0].metadata.annotations = of_claim;
  for (k8s::StringMap* all :
       {&bench.pods[0].metadata.annotations, &bench.claims[0].metadata.annotations}) {
    all->set("kubectl.kubernetes.io/last-applied-configuration", "{…}");
    all->set("pv.kubernetes.io/anything", "{…}");
  }
  bench.serve();
  bench.intake.start(0s);
  bench.loop.advance(1s);
  REQUIRE(bench.events.size() == 2);
  for (const sched::Event& each : bench.events) {
    if (const auto* pod = std::get_if<event::PodUpserted>(&each)) {
      CHECK(pod->object.metadata.annotations == of_pod);
    } else {
      const auto& claim = std::get<event::Upserted<k8s::PersistentVolumeClaim>>(each);
      CHECK(claim.object.metadata.annotations == of_claim);
    }
  }
}

TEST_CASE("after any outage the cluster is looked at again within seconds of its end") {
  IntakeBench bench;
  bool away = true;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    if (away) return call->respond(503, "{}");
    call->open();
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  for (int second = 0; second < 600; ++second) bench.loop.advance(1s);
  CHECK_FALSE(bench.synced);
  away = false;
  bench.loop.advance(10s);
  CHECK(bench.synced);
}

TEST_CASE("of failed pods those that kubelets rejected come as events, and nothing else") {
  const auto failed_pod = [](const char* name, const char* reason) {
    return tests::pod(name).gpus(1).on("n").started_at(k8s::Timestamp(7s)).failed(reason).object();
  };
  IntakeBench bench;
  bench.failed = {failed_pod("rejected", "UnexpectedAdmissionError"),
                  failed_pod("evicted", "Evicted")};
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(2s);
  REQUIRE(bench.synced);
  REQUIRE(bench.events.size() == 1);
  const auto& rejected = std::get<event::PodRejected>(bench.events[0]);
  CHECK(rejected.pod.name == "rejected");
  CHECK(rejected.node == "n");
  CHECK(rejected.reason == "UnexpectedAdmissionError");
  CHECK(rejected.at == k8s::Timestamp(7s));
  const k8s::Pod late = failed_pod("late", "OutOfnvidia.com/gpu");
  bench.failed_stream->send(event_line("ADDED", late));
  bench.failed_stream->send(event_line("DELETED", late));
  bench.loop.run_ready();
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::PodRejected>(bench.events[1]).pod.name == "late");
  CHECK(bench.seen_pods.empty());
}

TEST_CASE("a required kind that is refused holds everything back; one that may be hidden not") {
  SECTION("nodes") {
    IntakeBench bench;
    bench.refused = "/api/v1/nodes";
    bench.serve();
    bench.intake.start(1s);
    bench.loop.advance(10s);
    CHECK_FALSE(bench.synced);
    REQUIRE_FALSE(bench.problems.empty());
    CHECK(bench.problems[0] == "nodes");
    for (const Intake::Source& source : bench.intake.sources()) {
      CHECK(source.synced == (source.kind != "nodes"));
    }
  }
  SECTION("what may be hidden") {
    IntakeBench bench(sched::kSelectorChanged, true);
    bench.refused = GENERATE(
        as<std::string>(), "/apis/resource.k8s.io/v1/deviceclasses",
        "/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1/csinodes",
        "/apis/storage.k8s.io/v1/csidrivers", "/apis/storage.k8s.io/v1/csistoragecapacities",
        "/apis/storage.k8s.io/v1/volumeattachments", "/api/v1/services",
        "/api/v1/replicationcontrollers", "/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets",
        "/apis/policy/v1/poddisruptionbudgets");
    CAPTURE(bench.refused);
    bench.serve();
    bench.intake.start(1s);
    bench.loop.advance(10s);
    CHECK_FALSE(bench.synced);  // it may not know its roles yet
    for (int second = 0; second < 30; ++second) bench.loop.advance(1s);
    CHECK(bench.synced);
    for (int minute = 0; minute < 20; ++minute) {
      bench.loop.advance(60s);
      for (const Intake::Source& source : bench.intake.sources()) {
        CAPTURE(minute, source.kind);
        CHECK(source.in_contact);
      }
    }
  }
}

TEST_CASE("quotas that a cluster does not have hold nothing back, and are found when they come") {
  IntakeBench bench;
  bench.absent = kQuotas;
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(5min);
  CHECK(bench.synced);
  CHECK(bench.seen_quotas == std::vector<std::string>{"off"});

  bench.absent.clear();
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.quota->metadata.resource_version = "7";
  bench.events.clear();
  bench.loop.advance(10s);
  CHECK(bench.seen_quotas == std::vector<std::string>{"off", "team-vision", "on"});
  REQUIRE(bench.events.size() == 1);
  CHECK(std::get<event::QuotaUpserted>(bench.events[0]).object == *bench.quota);

  bench.quota_stream->send(event_line("DELETED", *bench.quota));
  bench.loop.run_ready();
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<event::QuotaDeleted>(bench.events[1]).name == "team-vision");
  CHECK(bench.seen_quotas.back() == "-u");
}

TEST_CASE(
    "while no server is behind a load balancer, its 404 does not mean that there are no quotas") {
  IntakeBench bench;
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.transport.serve(
      [](const std::shared_ptr<tests::FakeCall>& call) { call->respond(404, "no backend"); });
  bench.intake.start(0s);
  bench.loop.advance(3s);
  bench.serve();
  for (int second = 0; second < 60 && !bench.synced; ++second) bench.loop.advance(1s);
  CHECK(bench.synced);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on"});
}

TEST_CASE("quotas that are refused are not taken for none") {
  IntakeBench bench;
  bench.refused = kQuotas;
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.serve();
  bench.intake.start(0s);
  const int seconds = GENERATE(3, 600);
  for (int second = 0; second < seconds; ++second) bench.loop.advance(1s);
  CHECK_FALSE(bench.synced);
  CHECK(bench.seen_quotas.empty());
  CHECK(bench.problems[0] == "gpuquotas");
  // The other watches are silent here, for longer than the idle limit.
  const auto recoveries = [&bench] {
    return std::count(bench.recovered.begin(), bench.recovered.end(), "gpuquotas");
  };
  CHECK(recoveries() == 0);
  bench.refused.clear();
  bench.loop.advance(10s);
  CHECK(bench.synced);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on"});
  CHECK(recoveries() == 1);
  // The right to read them is taken away: they stay in force, and are not reported as off.
  bench.refused = kQuotas;
  bench.quota_stream->end();
  for (int minute = 0; minute < 10; ++minute) bench.loop.advance(60s);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on"});
  const auto sources = bench.intake.sources();
  CHECK_FALSE(std::find_if(sources.begin(), sources.end(), [](const Intake::Source& source) {
                return source.kind == "gpuquotas";
              })->in_contact);
}

TEST_CASE("a list that breaks off at the same object each time is one problem") {
  IntakeBench bench;
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    if (call->request().target.find("/api/v1/nodes") == std::string::npos) {
      call->open();
      return call->send(std::string(kInitialEventsEnd));
    }
    const std::string broken = R"({"metadata":{"name":"n2"},"status":{"allocatable":5}})";
    if (call->request().target.find("sendInitialEvents") == std::string::npos) {
      return call->respond(200, R"({"kind":"NodeList","metadata":{},"items":[)" + broken + "]}");
    }
    call->open();
    call->send(R"({"type":"ADDED","object":)" + k8s::encode(k8s::Node(tests::node("n1"))) + "}\n");
    call->send(R"({"type":"ADDED","object":)" + broken + "}\n");
  });
  bench.intake.start(0s);
  for (int second = 0; second < 60; ++second) bench.loop.advance(1s);
  CHECK(bench.problems.size() > 4);
  CHECK(bench.recovered.empty());
}

TEST_CASE("that the definition of quotas is deleted is survived") {
  IntakeBench bench;
  bench.quota.emplace();
  bench.quota->metadata.name = "team-vision";
  bench.quota->metadata.uid = "u";
  bench.serve();
  bench.intake.start(1s);
  bench.loop.advance(2s);
  REQUIRE(bench.quota_stream);
  bench.absent = kQuotas;  // the server ends the watch, without a word about the objects
  bench.quota_stream->end();
  bench.loop.advance(1min);
  CHECK(bench.seen_quotas == std::vector<std::string>{"team-vision", "on", "-u", "off"});
  bench.absent.clear();
  bench.loop.advance(10s);
  CHECK(bench.seen_quotas ==
        std::vector<std::string>{"team-vision", "on", "-u", "off", "team-vision", "on"});
}

TEST_CASE("of owners only the one that manages the object is kept") {
  IntakeBench bench;
  bench.pods = {tests::pod("a")};
  bench.pods[0].metadata.owner_references = {{"v1", "Node", "n", "u-n", false},
                                             {"batch/v1", "Job", "j", "u-j", true},
                                             {"v1", "ConfigMap", "c", "u-c", false}};
  bench.serve();
  bench.intake.start(0s);
  bench.loop.advance(1s);
  REQUIRE(bench.events.size() == 1);
  const auto& owners =
      std::get<event::PodUpserted>(bench.events[0]).object.metadata.owner_references;
  REQUIRE(owners.size() == 1);
  CHECK(owners[0].uid == "u-j");
  CHECK(owners.capacity() == 1);
}

TEST_CASE("what a tenant writes into very long lists is not kept") {
  IntakeBench bench;
  std::string tolerations = R"({"operator":"Exists"})";
  for (int i = 1; i < 50'000; ++i) tolerations += R"(,{"operator":"Exists"})";
  const std::string pod =
      R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"ml","uid":"u-p",)"
      R"("resourceVersion":"7"},"spec":{"schedulerName":"gpu-scheduler","tolerations":[)" +
      tolerations + "]}}}\n";
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    call->open();
    if (is_of_pods(call->request().target)) call->send(pod);
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  REQUIRE(bench.events.size() == 1);
  const k8s::Pod& seen = std::get<event::PodUpserted>(bench.events[0]).object;
  CHECK(sched::long_list_of(seen) == "more than 1000 tolerations");
  CHECK(seen.spec.tolerations.capacity() == 0);
}

TEST_CASE("an object that cannot be read holds up its node or its quota, and nothing else") {
  IntakeBench bench;
  const std::string broken_pod =
      R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"ml","uid":"u-p",)"
      R"("resourceVersion":"7"},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":)"
      R"({"requests":{"nvidia.com/mig-1g.5gb":"one"}}}]}}})"
      "\n";
  const std::string broken_node =
      R"({"type":"ADDED","object":{"metadata":{"name":"n2","uid":"u-n","resourceVersion":"7"},)"
      R"("status":{"allocatable":{"cpu":"8","nvidia.com/gpu":"eight"}}}})"
      "\n";
  const std::string broken_quota =
      R"({"type":"ADDED","object":{"metadata":{"name":"q","uid":"u-q","resourceVersion":"7"},)"
      R"("spec":{"namespaces":["ml"],"quotas":[{"gpuType":"*","guaranteed":"many"}]}}})"
      "\n";
  bench.transport.serve([&](const std::shared_ptr<tests::FakeCall>& call) {
    const std::string& target = call->request().target;
    call->open();
    if (is_of_pods(target)) call->send(broken_pod);
    if (target.starts_with("/api/v1/nodes")) call->send(broken_node);
    if (target.starts_with(kQuotas)) call->send(broken_quota);
    call->send(std::string(kInitialEventsEnd));
  });
  bench.intake.start(0s);
  bench.loop.advance(1s);
  CHECK(bench.synced);
  CHECK(bench.problems.empty());
  std::sort(bench.unreadable.begin(), bench.unreadable.end());
  CHECK(bench.unreadable ==
        std::vector<std::string>{"GpuQuota \"q\": spec.quotas[0].guaranteed: ",
                                 "Node \"n2\": status.allocatable[nvidia.com/gpu]: ",
                                 "Pod \"ml/p\": spec.containers[0].resources.requests"
                                 "[nvidia.com/mig-1g.5gb]: "});
  REQUIRE(bench.events.size() == 3);
  std::size_t unreadable = 0;
  for (const Intake::Source& source : bench.intake.sources()) unreadable += source.unreadable;
  CHECK(unreadable == 3);
  for (const sched::Event& each : bench.events) {
    if (const auto* pod = std::get_if<event::PodUpserted>(&each)) {
      CHECK(pod->object.spec.node_name == "n1");
      REQUIRE(pod->object.spec.containers.size() == 1);
      std::vector<std::string> names;
      for (const auto& [name, amount] : pod->object.spec.containers[0].requests) {
        names.push_back(name);
        CHECK(k8s::Quantity::of(100'000) < amount);
      }
      CHECK(names == std::vector<std::string>{"cpu", "ephemeral-storage", "memory",
                                              "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"});
    } else if (const auto* node = std::get_if<event::NodeUpserted>(&each)) {
      CHECK(node->object.spec.unschedulable);
      CHECK(node->object.status.allocatable.empty());
    } else {
      const auto& quota = std::get<event::QuotaUpserted>(each).object;
      CHECK(quota.spec.namespaces == std::vector<std::string>{"ml"});
      CHECK(quota.spec.order == k8s::GpuQuota::Order::kUnknown);
    }
  }
}
