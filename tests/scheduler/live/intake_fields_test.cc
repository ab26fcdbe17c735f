// What is kept of an object: the fields that are read, and of no list more than is needed.
#include "scheduler/framework/long_lists.h"
#include "tests/scheduler/live/intake_bench.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <chrono>
#include <memory>
#include <string>
#include <variant>

namespace {

using namespace std::chrono_literals;
namespace event = sched::event;
using tests::reading::event_line;
using tests::reading::IntakeBench;
using tests::reading::is_of_pods;
using tests::reading::kInitialEventsEnd;

}  // namespace

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
