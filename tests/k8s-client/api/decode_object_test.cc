// Whole objects of every kind but pods and storage, and the errors that all kinds share.
#include "k8s-client/api/decode.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

template <typename T>
T decoded(const std::string& json) {
  const auto object = Decoder().object<T>(json);
  if (!object) FAIL(object.error().message);
  return *object;
}

TEST_CASE("Metadata is read, managedFields and unknown fields are not", "[decode]") {
  const auto ns = decoded<Namespace>(R"({"apiVersion":"v1","kind":"Namespace","metadata":{
    "name":"ml","uid":"u-1","resourceVersion":"77","generation":3,
    "labels":{"b":"2","a":"1"},"annotations":{"x":"y"},
    "creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":null,
    "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"u-2","controller":true,
      "blockOwnerDeletion":true}],
    "managedFields":[{"manager":"m","fieldsV1":{"f:metadata":{}}}]},
    "spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  ObjectMeta want;
  want.name = "ml";
  want.uid = "u-1";
  want.resource_version = "77";
  want.generation = 3;
  want.labels = {{"a", "1"}, {"b", "2"}};
  want.annotations = {{"x", "y"}};
  want.creation_timestamp = std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) +
                            std::chrono::hours(3) + std::chrono::minutes(4) +
                            std::chrono::seconds(5);
  want.owner_references = {{"v1", "K", "o", "u-2", true}};
  CHECK(ns.metadata == want);
}

TEST_CASE("A node is read", "[decode]") {
  const auto node = decoded<Node>(R"({"kind":"Node","metadata":{"name":"gpu-1"},
    "spec":{"unschedulable":true,"taints":[{"key":"a","value":"b","effect":"NoSchedule"},
      {"key":"c","effect":"PreferNoSchedule"},{"key":"d","effect":"NoExecute"},
      {"key":"e","effect":"NoFuture"}]},
    "status":{"capacity":{"cpu":"96","nvidia.com/gpu":"8"},
      "allocatable":{"cpu":"95500m","nvidia.com/gpu":"8","memory":"1Gi","pods":110},
      "conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"m",
        "lastHeartbeatTime":null}],
      "images":[{"names":["r/a@sha256:1","r/a:2"],"sizeBytes":1234},{}],
      "declaredFeatures":["A","B"]}})");
  Node want;
  want.metadata.name = "gpu-1";
  want.spec.unschedulable = true;
  want.spec.taints = {{"a", "b", TaintEffect::kNoSchedule},
                      {"c", "", TaintEffect::kPreferNoSchedule},
                      {"d", "", TaintEffect::kNoExecute},
                      {"e", "", TaintEffect::kUnknown}};
  want.status.capacity = {{"cpu", Quantity::of(96)}, {"nvidia.com/gpu", Quantity::of(8)}};
  want.status.allocatable = {{"cpu", Quantity::of_milli(95500)},
                             {"nvidia.com/gpu", Quantity::of(8)},
                             {"memory", Quantity::of(1 << 30)},
                             {"pods", Quantity::of(110)}};
  want.status.conditions = {{"Ready", "True", "KubeletReady"}};
  want.status.images = {{{"r/a@sha256:1", "r/a:2"}, 1234}, {}};
  want.status.declared_features = {"A", "B"};
  CHECK(node == want);
}

TEST_CASE("A device class is read", "[decode]") {
  const auto device_class = decoded<DeviceClass>(
      R"({"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"nvidia.com/gpu"}})");
  CHECK(device_class.extended_resource_name == "nvidia.com/gpu");
}

TEST_CASE("Of Services and controllers of pods the selector is read", "[decode]") {
  const std::string plain = R"({"metadata":{"name":"a","namespace":"ns"},"spec":{"selector":)"
                            R"({"app":"web"},"replicas":3,"template":{"spec":{}}}})";
  CHECK(decoded<Service>(plain).selector == StringMap{{"app", "web"}});
  CHECK(decoded<ReplicationController>(plain).selector == StringMap{{"app", "web"}});
  const std::string whole =
      R"({"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":)"
      R"({"app":"web"},"matchExpressions":[{"key":"x","operator":"Exists"}]}}})";
  const LabelSelector want{
      .match_labels = {{"app", "web"}},
      .match_expressions = {{.key = "x", .op = SelectorOperator::kExists, .values = {}}}};
  CHECK(decoded<ReplicaSet>(whole).selector == want);
  CHECK(decoded<StatefulSet>(whole).selector == want);
  const std::string none = R"({"metadata":{"name":"a"},"spec":{"selector":null}})";
  CHECK(decoded<Service>(none).selector.empty());
  CHECK_FALSE(decoded<ReplicaSet>(none).selector);
}

TEST_CASE("Of a disruption budget it is read what it covers and still allows", "[decode]") {
  const auto budget = decoded<PodDisruptionBudget>(
      R"({"metadata":{"name":"a","namespace":"ns"},)"
      R"("spec":{"minAvailable":"50%","selector":{"matchLabels":{"app":"web"}}},)"
      R"("status":{"disruptionsAllowed":2,"currentHealthy":4,)"
      R"("disruptedPods":{"web-1":"2026-01-02T03:04:05Z","web-0":null,"web-1":null}}})");
  CHECK(budget.selector ==
        LabelSelector{.match_labels = {{"app", "web"}}, .match_expressions = {}});
  CHECK(budget.disruptions_allowed == 2);
  CHECK(budget.disrupted_pods == std::vector<std::string>{"web-0", "web-1"});
  PodDisruptionBudget none;
  none.metadata.name = "a";
  CHECK(decoded<PodDisruptionBudget>(R"({"metadata":{"name":"a"}})") == none);
  CHECK(decoded<PodDisruptionBudget>(R"({"metadata":{"name":"a"},"spec":{"selector":null},)"
                                     R"("status":{"disruptedPods":null}})") == none);
  CHECK(decoded<PodDisruptionBudget>(R"({"metadata":{"name":"a"},"spec":{"selector":{}}})")
            .selector == LabelSelector{});
}

TEST_CASE("A disruption budget that cannot be read holds up no other", "[decode]") {
  struct Case {
    std::string status;
    std::string want;  // the error names the field
  };
  const std::vector<Case> cases = {
      {R"({"disruptedPods":["a"]})", "status.disruptedPods: "},
      {R"({"disruptedPods":"a"})", "status.disruptedPods: "},
      {R"({"disruptionsAllowed":"1"})", "status.disruptionsAllowed: "},
      {R"({"disruptionsAllowed":2147483648})", "status.disruptionsAllowed: "},
      {R"([])", "status: "}};
  for (const Case& c : cases) {
    CAPTURE(c.status);
    const std::string list =
        R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","uid":"u",)"
        R"("resourceVersion":"1"},"status":)" +
        c.status + R"(},{"metadata":{"name":"b"}}]})";
    std::vector<std::string> names;
    std::vector<std::string> errors;
    REQUIRE(Decoder().list<PodDisruptionBudget>(
        list, [&](const PodDisruptionBudget& each) { names.push_back(each.metadata.name); },
        [&](const PodDisruptionBudget& /*partial*/, const Error& why) {
          errors.push_back(why.message);
        }));
    CHECK(names == std::vector<std::string>{"b"});
    REQUIRE(errors.size() == 1);
    CHECK_THAT(errors[0], Catch::Contains(c.want));
  }
}

TEST_CASE("Quantities may be strings or numbers", "[decode]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"\"2\"", "2"},     {"2", "2"},
      {"0.5", "500m"},    {"1e3", "1000"},
      {"-1", "-1"},       {"\" 3 \"", "3"},
      {"0.00001", "10u"}, {"18446744073709551615", "9223372036854775807"}};
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const auto node = decoded<Node>(R"({"metadata":{"name":"n"},"status":{"allocatable":{"x":)" +
                                    c.given + "}}}");
    CHECK(node.status.allocatable.front().second.to_string() == c.want);
  }
}

TEST_CASE("null is absence, and the last of equal keys counts", "[decode]") {
  const auto node = decoded<Node>(R"({"metadata":{"name":"n","labels":null,"generation":null},
    "spec":{"taints":null},"status":{"allocatable":{"cpu":null,"a":"1","b":"2","a":"3"},
    "conditions":[null]}})");
  Node want;
  want.metadata.name = "n";
  want.status.allocatable = {{"a", Quantity::of(3)}, {"b", Quantity::of(2)}};
  want.status.conditions.emplace_back();
  CHECK(node == want);
  CHECK(decoded<Node>(R"({"metadata":{"name":"n"},"spec":null})").spec == want.spec);
}

TEST_CASE("A wrong type names the object and the field", "[decode]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {R"({"metadata":{"name":5}})", "Node: metadata.name: must be a string, found a number"},
      {R"({"spec":{"taints":[{},{"key":true}]},"metadata":{"name":"n"}})",
       "Node \"n\": spec.taints[1].key: must be a string, found a boolean"},
      {R"({"metadata":{"name":"n","namespace":"x","labels":{"a.b/c":1}}})",
       "Node \"x/n\": metadata.labels[a.b/c]: must be a string, found a number"},
      {R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1x"}}})",
       "Node \"n\": status.allocatable.cpu: '1x' is not a quantity; write a number with an "
       "optional "
       "suffix, as in 500m, 2 or 16Gi"},
      {R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":{}}}})",
       "Node \"n\": status.allocatable.cpu: must be a string or a number, found an object"},
      {R"({"metadata":{"name":"n"},"status":[]})",
       "Node \"n\": status: must be an object, found a list"},
      {R"({"metadata":{"name":"n"},"spec":{"taints":{}}})",
       "Node \"n\": spec.taints: must be a list, found an object"},
      {R"({"metadata":{"name":"n"},"spec":{"unschedulable":"yes"}})",
       "Node \"n\": spec.unschedulable: must be true or false, found a string"},
      {R"({"metadata":{"name":"n","generation":1.5}})",
       "Node \"n\": metadata.generation: must be an integer of 64 bits"},
      {R"({"metadata":{"name":"n","generation":9223372036854775808}})",
       "Node \"n\": metadata.generation: must be an integer of 64 bits"},
      {R"({"metadata":{"name":"n","creationTimestamp":"yesterday"}})",
       "Node \"n\": metadata.creationTimestamp: 'yesterday' is not a time as in RFC 3339"},
      {R"({"metadata":{"name":"n","creationTimestamp":5}})",
       "Node \"n\": metadata.creationTimestamp: must be a time, found a number"},
      {R"({"metadata":{}})", "Node: metadata.name: is missing"},
      {"{}", "Node: metadata.name: is missing"},
      {"[]", "Node: must be an object, found a list"},
      {"\"text\"", "Node: must be an object, found a string"},
      {R"({"kind":"Status","message":"no"})", "expected a Node, found a Status"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const auto node = Decoder().object<Node>(c.given);
    REQUIRE_FALSE(node);
    CHECK(node.error().kind == ErrorKind::kDecode);
    CHECK(node.error().message == c.want);
  }
}

TEST_CASE("A damaged document is refused as a whole", "[decode]") {
  const std::string good =
      R"({"metadata":{"name":"n"},"unused":{"deep":[1,2,{"x":"y"}]},"spec":{"unschedulable":true}})";
  REQUIRE(Decoder().object<Node>(good));
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(Decoder().object<Node>(good.substr(0, length)));
  }
  // In a part that is not read, too.
  CHECK_FALSE(Decoder().object<Node>(R"({"metadata":{"name":"n"},"unused":{"a":tru}})"));
  CHECK_FALSE(Decoder().object<Node>(R"({"metadata":{"name":"n"},"unused":"\q"})"));
  CHECK_FALSE(Decoder().object<Node>(good + "}"));
  CHECK_FALSE(Decoder().object<Node>(good + good));
  CHECK_FALSE(Decoder().object<Node>(std::string(100'000, '[')));
}

TEST_CASE("A decoder is used again after an error and after a large document", "[decode]") {
  Decoder decoder;
  CHECK_FALSE(decoder.object<Node>("{"));
  std::string items;
  for (int i = 0; i < 5000; ++i) {
    items += (i > 0 ? "," : "") + std::string(R"({"metadata":{"name":"n)") + std::to_string(i) +
             R"(","annotations":{"long":")" + std::string(300, 'x') + "\"}}}";
  }
  std::size_t count = 0;
  const auto page = decoder.list<Node>(R"({"items":[)" + items + "]}", [&](const Node& node) {
    CHECK(node.metadata.name == "n" + std::to_string(count));
    ++count;
  });
  CHECK(page);
  CHECK(count == 5000);
  Decoder moved = std::move(decoder);
  CHECK(moved.object<Node>(R"({"metadata":{"name":"n"}})")->metadata.name == "n");
}

}  // namespace
}  // namespace k8s
