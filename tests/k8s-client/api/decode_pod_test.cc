#include "k8s-client/api/decode.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

Pod::Spec spec_of(const std::string& json) {
  const auto pod =
      Decoder().object<Pod>(R"({"metadata":{"name":"p","namespace":"ml"},"spec":)" + json + "}");
  if (!pod) FAIL(pod.error().message);
  return pod->spec;
}

TEST_CASE("A pod's plain fields are read", "[decode]") {
  Pod::Spec want;
  want.scheduler_name = "gpu-scheduler";
  want.node_name = "n";
  want.priority = -5;
  want.priority_class_name = "low";
  want.preemption_policy = "Never";
  want.node_selector = {{"gpu", "a100"}};
  want.overhead = {{"cpu", Quantity::of_milli(250)}};
  want.scheduling_gates = {"one", "two"};
  want.resource_claims = {{"claim"}};
  CHECK(spec_of(R"({"schedulerName":"gpu-scheduler","nodeName":"n","priority":-5,
    "priorityClassName":"low","preemptionPolicy":"Never","nodeSelector":{"gpu":"a100"},
    "overhead":{"cpu":"250m"},"schedulingGates":[{"name":"one"},{"name":"two"}],
    "resourceClaims":[{"name":"claim","resourceClaimName":"x"}],"dnsPolicy":"Default"})") == want);
}

TEST_CASE("Of terms that match no node one is kept, so that the pod goes nowhere", "[decode]") {
  const auto terms_of = [](const std::string& json) {
    return spec_of(R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms":)" +
                   json + R"(},"preferredDuringSchedulingIgnoredDuringExecution":[
      {"weight":1,"preference":{}},{"weight":2,"preference":{"matchExpressions":[
        {"key":"a","operator":"Exists"}]}},{"weight":3,"preference":{}}]}}})")
        .node_affinity.value();
  };
  const NodeAffinity none = terms_of("[{},{},{}]");
  CHECK(none.required == NodeSelector{{NodeSelectorTerm{}}});
  REQUIRE(none.preferred.size() == 1);
  CHECK(none.preferred[0].weight == 2);
  const std::string some = R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})";
  const auto both = terms_of("[" + some + ",{}," + some + ",{}]").required->terms;
  REQUIRE(both.size() == 3);
  CHECK(both[0].empty());
  CHECK_FALSE(both[2].empty());
}

TEST_CASE("A document may nest as deeply as the API server takes it", "[decode]") {
  // Two levels of its own, and those around it in a list.
  const auto nested = [](std::size_t levels) {
    std::string fields = "{}";
    for (std::size_t i = 2; i < levels; ++i) fields = R"({"f:a":)" + fields + "}";
    return R"({"metadata":{"name":"p","namespace":"ml","uid":"u","resourceVersion":"1",
      "managedFields":[{"fieldsV1":)" +
           fields + "}]}}";
  };
  CHECK(Decoder().object<Pod>(nested(10'000)));
  int read = 0;
  const auto count = [&](const Pod&) { ++read; };
  const auto put_aside = [](const Pod&, const Error& why) { FAIL(why.message); };
  Decoder decoder;
  const std::string list =
      R"({"kind":"PodList","items":[)" + nested(10'000) + R"(,{"metadata":{"name":"q"}}]})";
  for (int i = 0; i < 2; ++i) {  // also when its memory is another one
    CHECK(decoder.list<Pod>(list + std::string(std::size_t{1} << 20, ' '), count, put_aside));
  }
  CHECK(read == 4);
  CHECK(Decoder().watch_event<Pod>(R"({"type":"ADDED","object":)" + nested(10'000) + "}"));
}

TEST_CASE("Containers: requests, limits, host ports, sidecars", "[decode]") {
  const auto spec = spec_of(R"({
    "initContainers":[{"name":"side","restartPolicy":"Always"},
                      {"name":"init","restartPolicy":"Never"}],
    "containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"},"limits":{"nvidia.com/gpu":2},"claims":[{"name":"x"}]},
      "ports":[{"containerPort":80},{"containerPort":81,"hostPort":8081,"hostIP":"10.0.0.1",
        "protocol":"UDP"}],
      "env":[{"name":"A","value":"B"}]}]})");
  Pod::Spec want;
  want.init_containers.resize(2);
  want.init_containers[0].name = "side";
  want.init_containers[0].restart_always = true;
  want.init_containers[1].name = "init";
  Container container;
  container.name = "c";
  container.image = "i";
  container.requests = {{"cpu", Quantity::of(1)}};
  container.limits = {{"nvidia.com/gpu", Quantity::of(2)}};
  container.ports = {{8081, "10.0.0.1", "UDP"}};
  want.containers = {container};
  CHECK(spec == want);
}

TEST_CASE("With hostNetwork each port is one of the host, also in a manifest", "[decode]") {
  const auto ports_of = [](const std::string& host_network) {
    return spec_of(R"({"containers":[{"name":"c","ports":[{"containerPort":80},
      {"containerPort":81,"hostPort":81,"protocol":"UDP"}]}],"hostNetwork":)" +
                   host_network + "}")
        .containers.at(0)
        .ports;
  };
  CHECK(ports_of("true") == std::vector<ContainerPort>{{80, "", ""}, {81, "", "UDP"}});
  CHECK(ports_of("false") == std::vector<ContainerPort>{{81, "", "UDP"}});
  CHECK(ports_of("null") == ports_of("false"));
}

TEST_CASE("Of two lists of ports the last one counts", "[decode]") {
  const auto spec = spec_of(R"({"containers":[{"name":"c",
    "ports":[{"containerPort":1,"hostPort":1}],"ports":[{"containerPort":2,"hostPort":2}]}]})");
  CHECK(spec.containers.at(0).ports == std::vector<ContainerPort>{{2, "", ""}});
}

TEST_CASE("What a pod needs of features of kubelet's", "[decode]") {
  const auto restarts = [](const std::string& rules) {
    return spec_of(R"({"containers":[{"name":"c","restartPolicyRules":)" + rules + "}]}")
        .containers.at(0)
        .restarts_all_containers;
  };
  CHECK_FALSE(restarts("[]"));
  CHECK_FALSE(restarts(R"([{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}])"));
  CHECK(restarts(R"([{"action":"Restart"},{"action":"RestartAllContainers"}])"));
  CHECK_FALSE(spec_of("{}").host_network);
  CHECK(spec_of(R"({"hostNetwork":true})").host_network);
  CHECK_FALSE(spec_of("{}").user_namespace);
  CHECK_FALSE(spec_of(R"({"hostUsers":true})").user_namespace);
  CHECK(spec_of(R"({"hostUsers":false})").user_namespace);
}

TEST_CASE("Pod-level requests and limits tell absence from emptiness", "[decode]") {
  CHECK_FALSE(spec_of("{}").resource_requests);
  CHECK_FALSE(spec_of(R"({"resources":{"limits":{"cpu":"1"}}})").resource_requests);
  CHECK(spec_of(R"({"resources":{"requests":{}}})").resource_requests == ResourceList{});
  CHECK(spec_of(R"({"resources":{"requests":{"cpu":"2"}}})").resource_requests ==
        ResourceList{{"cpu", Quantity::of(2)}});
  CHECK_FALSE(spec_of(R"({"resources":{"requests":{"cpu":"1"}}})").resource_limits);
  CHECK(spec_of(R"({"resources":{"limits":{"cpu":"2"}}})").resource_limits ==
        ResourceList{{"cpu", Quantity::of(2)}});
}

TEST_CASE("Tolerations: absence of operator, effect and key", "[decode]") {
  using Op = TolerationOperator;
  const auto spec = spec_of(R"({"tolerations":[{"key":"a","value":"b"},
    {"operator":"Exists"},{"key":"a","operator":"","effect":""},
    {"key":"a","operator":"Equal","effect":"NoExecute","tolerationSeconds":300},
    {"key":"a","operator":"Lt","value":"5"},{"key":"a","operator":"Gt","value":"5"},
    {"key":"a","operator":"Near","effect":"NoFuture"}]})");
  const std::vector<Toleration> want = {{"a", Op::kEqual, "b", std::nullopt},
                                        {"", Op::kExists, "", std::nullopt},
                                        {"a", Op::kEqual, "", std::nullopt},
                                        {"a", Op::kEqual, "", TaintEffect::kNoExecute},
                                        {"a", Op::kLt, "5", std::nullopt},
                                        {"a", Op::kGt, "5", std::nullopt},
                                        {"a", Op::kUnknown, "", TaintEffect::kUnknown}};
  CHECK(spec.tolerations == want);
}

TEST_CASE("Node affinity is read with all operators", "[decode]") {
  using Op = SelectorOperator;
  const auto spec = spec_of(R"({"affinity":{"nodeAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"a","operator":"In","values":["1","2"]},
        {"key":"b","operator":"NotIn","values":["1"]},{"key":"c","operator":"Exists"},
        {"key":"d","operator":"DoesNotExist"},{"key":"e","operator":"Gt","values":["1"]},
        {"key":"f","operator":"Lt","values":["1"]},{"key":"g","operator":"Like"}]},
      {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]},
    "preferredDuringSchedulingIgnoredDuringExecution":[
      {"weight":7,"preference":{"matchExpressions":[{"key":"h","operator":"Exists"}]}}]}}})");
  NodeAffinity want;
  want.required = NodeSelector{{{{{"a", Op::kIn, {"1", "2"}},
                                  {"b", Op::kNotIn, {"1"}},
                                  {"c", Op::kExists, {}},
                                  {"d", Op::kDoesNotExist, {}},
                                  {"e", Op::kGt, {"1"}},
                                  {"f", Op::kLt, {"1"}},
                                  {"g", Op::kUnknown, {}}},
                                 {}},
                                {{}, {{"metadata.name", Op::kIn, {"n"}}}}}};
  want.preferred = {{7, {{{"h", Op::kExists, {}}}, {}}}};
  CHECK(spec.node_affinity == want);
  CHECK_FALSE(spec.pod_affinity);
  CHECK_FALSE(spec_of("{}").node_affinity);
  CHECK(spec_of(R"({"affinity":{"nodeAffinity":{}}})").node_affinity == NodeAffinity{});
}

TEST_CASE("Pod affinity tells an absent selector from an empty one", "[decode]") {
  const auto spec = spec_of(R"({"affinity":{
    "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
      {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}},"namespaces":["x"],
       "namespaceSelector":{},"matchLabelKeys":["k"],"mismatchLabelKeys":["m"]},
      {"topologyKey":"host"}]},
    "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
      {"weight":3,"podAffinityTerm":{"topologyKey":"host","labelSelector":{}}}]}}})");
  PodAffinityTerm full;
  full.label_selector = LabelSelector{{{"app", "a"}}, {}};
  full.namespaces = {"x"};
  full.namespace_selector = LabelSelector{};
  full.topology_key = "zone";
  full.match_label_keys = {"k"};
  full.mismatch_label_keys = {"m"};
  PodAffinityTerm bare;
  bare.topology_key = "host";
  PodAffinityTerm all = bare;
  all.label_selector = LabelSelector{};
  CHECK(spec.pod_affinity == PodAffinity{{full, bare}, {}});
  CHECK(spec.pod_anti_affinity == PodAffinity{{}, {{3, all}}});
}

TEST_CASE("Topology spread: policies, and an unknown one is taken strictly", "[decode]") {
  const auto constraints = spec_of(R"({"topologySpreadConstraints":[
    {"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","minDomains":3,
     "labelSelector":{"matchLabels":{"a":"b"}},"nodeAffinityPolicy":"Ignore",
     "nodeTaintsPolicy":"Honor","matchLabelKeys":["k"]},
    {"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"DoNotSchedule",
     "nodeAffinityPolicy":"Honor","nodeTaintsPolicy":"Ignore"},
    {"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"Sometimes"}]})")
                               .topology_spread_constraints;
  TopologySpreadConstraint full;
  full.max_skew = 2;
  full.topology_key = "zone";
  full.do_not_schedule = false;
  full.label_selector = LabelSelector{{{"a", "b"}}, {}};
  full.min_domains = 3;
  full.node_affinity_honor = false;
  full.node_taints_honor = true;
  full.match_label_keys = {"k"};
  TopologySpreadConstraint plain;
  plain.topology_key = "host";
  CHECK(constraints == std::vector<TopologySpreadConstraint>{full, plain, plain});
}

TEST_CASE("Every volume source of core/v1 is either free of nodes or kept", "[decode]") {
  const std::vector<std::string> node_free = {
      "azureFile",    "cephfs",   "configMap",  "csi",     "downwardAPI",
      "emptyDir",     "fc",       "flexVolume", "flocker", "gitRepo",
      "glusterfs",    "hostPath", "image",      "nfs",     "photonPersistentDisk",
      "projected",    "quobyte",  "scaleIO",    "secret",  "storageos",
      "vsphereVolume"};
  const std::vector<std::string> disks = {
      "awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "iscsi",
      "portworxVolume",       "rbd"};
  const auto volumes_of = [](const std::string& source) {
    return spec_of(R"({"volumes":[{"name":"v",")" + source + R"(":{"claimName":"c","x":1}}]})")
        .volumes;
  };
  for (const auto& source : node_free) {
    CAPTURE(source);
    CHECK(volumes_of(source).empty());
  }
  for (const auto& source : disks) {
    CAPTURE(source);
    CHECK(volumes_of(source) == std::vector<Volume>{{"v", Volume::Kind::kDisk, "", source}});
  }
  CHECK(volumes_of("aSourceOfTomorrow") ==
        std::vector<Volume>{{"v", Volume::Kind::kUnknown, "", "aSourceOfTomorrow"}});
  CHECK(volumes_of("persistentVolumeClaim") ==
        std::vector<Volume>{
            {"v", Volume::Kind::kPersistentVolumeClaim, "c", "persistentVolumeClaim"}});
  CHECK(volumes_of("ephemeral") ==
        std::vector<Volume>{{"v", Volume::Kind::kEphemeral, "", "ephemeral"}});
  CHECK(spec_of(R"({"volumes":[{"name":"empty"}]})").volumes.empty());
}

TEST_CASE("Of a disk what tells it from others is kept", "[decode]") {
  struct Case {
    std::string source;
    std::string fields;
    Disk want;
  };
  const std::vector<Case> cases = {
      {"awsElasticBlockStore",
       R"("volumeID":"aws://us-1/vol-1","readOnly":true)",
       {"aws://us-1/vol-1", true, {}, {}}},
      {"azureDisk", R"("diskName":"d","diskURI":"/s/d","kind":"Managed")", {"/s/d", false, {}, {}}},
      {"cinder", R"("volumeID":"v","readOnly":false)", {"v", false, {}, {}}},
      {"gcePersistentDisk", R"("pdName":"p","partition":1)", {"p", false, {}, {}}},
      {"iscsi", R"("targetPortal":"t","iqn":"i","lun":3,"readOnly":true)", {"i", true, {}, {}}},
      {"portworxVolume", R"("volumeID":"v")", {"v", false, {}, {}}},
      {"rbd", R"("monitors":["m","n"],"image":"i","pool":"p")", {"i", false, {"m", "n"}, "p"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.source);
    const auto spec =
        spec_of(R"({"volumes":[{"name":"v",")" + c.source + R"(":{)" + c.fields + "}}]}");
    Volume want{"v", Volume::Kind::kDisk, "", c.source};
    want.disk = c.want;
    CHECK(spec.volumes == std::vector{want});
  }
}

TEST_CASE("Of a volume that is an image its reference is kept", "[decode]") {
  const auto spec = spec_of(
      R"({"volumes":[{"name":"v","image":{"reference":"r/data:1","pullPolicy":"Always"}},
                     {"name":"w","image":{}}]})");
  CHECK(spec.volumes.empty());
  CHECK(spec.image_volumes == std::vector<std::string>{"r/data:1", ""});
}

TEST_CASE("A pod's status is read", "[decode]") {
  const auto pod = Decoder().object<Pod>(R"({"metadata":{"name":"p"},"status":{
    "phase":"Running","reason":"r","startTime":"1970-01-01T00:00:07Z","nominatedNodeName":"n",
    "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m",
      "observedGeneration":4,"lastProbeTime":null}],
    "initContainerStatuses":[{"name":"i"}],
    "containerStatuses":[{"name":"c","allocatedResources":{"cpu":"1"},
      "resources":{"requests":{"cpu":"2"},"limits":{"cpu":"3"}},"ready":true},
      {"name":"d","resources":{}}],
    "resources":{"requests":{"memory":"4"}},"allocatedResources":{"memory":"5"}}})");
  REQUIRE(pod);
  Pod::Status want;
  want.phase = PodPhase::kRunning;
  want.reason = "r";
  want.start_time = Timestamp(std::chrono::seconds(7));
  want.nominated_node_name = "n";
  want.conditions = {{"PodScheduled", "False", "Unschedulable", "m", 4}};
  want.init_container_statuses = {{"i", std::nullopt, std::nullopt}};
  want.container_statuses = {
      {"c", ResourceList{{"cpu", Quantity::of(1)}}, ResourceList{{"cpu", Quantity::of(2)}}},
      {"d", std::nullopt, ResourceList{}}};
  want.resource_requests = {{"memory", Quantity::of(4)}};
  want.allocated_resources = {{"memory", Quantity::of(5)}};
  CHECK(pod->status == want);
}

TEST_CASE("Phases", "[decode]") {
  const std::vector<std::pair<std::string, PodPhase>> cases = {
      {"", PodPhase::kPending},        {"Pending", PodPhase::kPending},
      {"Running", PodPhase::kRunning}, {"Succeeded", PodPhase::kSucceeded},
      {"Failed", PodPhase::kFailed},   {"Unknown", PodPhase::kUnknown},
      {"Dreaming", PodPhase::kUnknown}};
  for (const auto& [text, want] : cases) {
    CAPTURE(text);
    const auto pod =
        Decoder().object<Pod>(R"({"metadata":{"name":"p"},"status":{"phase":")" + text + "\"}}");
    REQUIRE(pod);
    CHECK(pod->status.phase == want);
  }
}

TEST_CASE("A pod's errors name the path", "[decode]") {
  struct Case {
    std::string given;
    std::string want;
  };
  const std::vector<Case> cases = {
      {R"({"containers":[{"resources":{"limits":{"cpu":"1Q"}}}]})",
       "spec.containers[0].resources.limits.cpu: '1Q' is not a quantity; write a number with an "
       "optional suffix, as in 500m, 2 or 16Gi"},
      {R"({"containers":[{},{"resources":{"requests":{"nvidia.com/gpu":true}}}]})",
       "spec.containers[1].resources.requests[nvidia.com/gpu]: must be a string or a number, found "
       "a boolean"},
      {R"({"initContainers":{}})", "spec.initContainers: must be a list, found an object"},
      {R"({"tolerations":[5]})", "spec.tolerations[0]: must be an object, found a number"},
      {R"({"containers":[{"ports":[{"hostPort":"http"}]}]})",
       "spec.containers[0].ports[0].hostPort: must be an integer, found a string"},
      {R"({"priority":2147483648})",
       "spec.priority: must be an integer of 32 bits, found 2147483648"},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms":[{"matchExpressions":[{"values":[1]}]}]}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchExpressions[0].values[0]: must be a string, found a number"},
      {R"({"volumes":[{"persistentVolumeClaim":{"claimName":[]}}]})",
       "spec.volumes[0].persistentVolumeClaim.claimName: must be a string, found a list"},
      {R"({"schedulingGates":["plain"]})",
       "spec.schedulingGates[0]: must be an object, found a string"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const auto pod = Decoder().object<Pod>(R"({"metadata":{"name":"p","namespace":"ml"},"spec":)" +
                                           c.given + "}");
    REQUIRE_FALSE(pod);
    CHECK(pod.error().message == "Pod \"ml/p\": " + c.want);
  }
}

}  // namespace
}  // namespace k8s
