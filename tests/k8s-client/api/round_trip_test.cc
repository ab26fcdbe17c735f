#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/k8s-client/api/random_objects.h"
#include "tests/support/catch.h"

#include <string>

namespace k8s {
namespace {

// decode(encode(x)) == x, by itself, in a list and in a watch event.
template <typename T>
void check_round_trip(Decoder& decoder, const T& object) {
  const std::string json = encode(object);
  CAPTURE(json);
  const auto alone = decoder.object<T>(json);
  if (!alone) FAIL(alone.error().message);
  CHECK(*alone == object);

  std::vector<T> items;
  CHECK(decoder.list<T>(R"({"items":[)" + json + "," + json + "]}",
                        [&](T item) { items.push_back(std::move(item)); }));
  CHECK(items == std::vector<T>{object, object});

  const auto event = decoder.watch_event<T>(R"({"type":"ADDED","object":)" + json + "}");
  REQUIRE(event);
  CHECK(event->object == object);
}

TEST_CASE("Encoding and decoding gives the same object", "[decode][encode]") {
  Decoder decoder;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    testing::RandomObjects random(seed);
    check_round_trip(decoder, random.pod());
    check_round_trip(decoder, random.node());
    check_round_trip(decoder, random.ns());
    check_round_trip(decoder, random.claim());
    check_round_trip(decoder, random.volume());
    check_round_trip(decoder, random.storage_class());
    check_round_trip(decoder, random.csi_node());
    check_round_trip(decoder, random.csi_driver());
    check_round_trip(decoder, random.csi_storage_capacity());
    check_round_trip(decoder, random.volume_attachment());
    check_round_trip(decoder, random.device_class());
    check_round_trip(decoder, random.service());
    check_round_trip(decoder, random.replication_controller());
    check_round_trip(decoder, random.replica_set());
    check_round_trip(decoder, random.stateful_set());
    check_round_trip(decoder, random.disruption_budget());
    check_round_trip(decoder, random.lease());
    check_round_trip(decoder, random.gpu_quota());
  }
}

TEST_CASE("Text that is not UTF-8 is replaced, not refused", "[encode]") {
  Namespace ns;
  ns.metadata.name = "a\xff";
  const auto read = Decoder().object<Namespace>(encode(ns));
  REQUIRE(read);
  CHECK(read->metadata.name == "a\uFFFD");
}

TEST_CASE("A lease that nobody holds says so", "[encode]") {
  Lease lease;
  lease.metadata.name = "s";
  lease.spec.lease_duration_seconds = 1;
  lease.spec.renew_time = Timestamp(std::chrono::seconds(1));
  CHECK(encode(lease) ==
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"s"},)"
        R"("spec":{"holderIdentity":"","leaseDurationSeconds":1,)"
        R"("renewTime":"1970-01-01T00:00:01.000000Z","leaseTransitions":0}})");
}

TEST_CASE("An encoded pod is what Kubernetes expects", "[encode]") {
  Pod pod;
  pod.metadata.name = "p";
  pod.metadata.namespace_ = "ml";
  pod.spec.scheduler_name = "gpu-scheduler";
  Container container;
  container.name = "c";
  container.limits = {{"nvidia.com/gpu", Quantity::of(2)}};
  container.ports = {{8080, "", "TCP"}};
  pod.spec.containers = {container};
  pod.spec.tolerations = {{"gpu", TolerationOperator::kExists, "", TaintEffect::kNoSchedule}};
  CHECK(encode(pod) ==
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ml"},)"
        R"("spec":{"schedulerName":"gpu-scheduler","containers":[{"name":"c",)"
        R"("resources":{"limits":{"nvidia.com/gpu":"2"}},)"
        R"("ports":[{"containerPort":8080,"hostPort":8080,"protocol":"TCP"}]}],)"
        R"("tolerations":[{"key":"gpu","operator":"Exists","effect":"NoSchedule"}]},)"
        R"("status":{"phase":"Pending"}})");
}

}  // namespace
}  // namespace k8s
