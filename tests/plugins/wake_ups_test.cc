// Which events have a waiting pod tried again, under the policy that is kube-scheduler's profile.
//
// One row for each event and plugin. The rows that help follow from what kube-scheduler 1.36
// registers for the plugin (EventsToRegister and its queueing hints); those that do not are events
// of the same kind that its hint skips, and other kinds.
#include "tests/plugins/cluster.h"
#include "tests/plugins/labels.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <variant>
#include <vector>

using namespace sched;
using tests::claim;
using tests::Cluster;
using tests::kHost;
using tests::kZone;
using tests::label;
using tests::node;
using tests::our_pod;
using tests::pods_like;
using tests::term;
using tests::volume;
using namespace std::chrono_literals;

namespace {

tests::PodBuilder labelled(std::string_view name) { return our_pod(name).labelled("app", "x"); }
k8s::PodAffinityTerm like(const char* key) { return pods_like({{"app", "x"}}, key); }

k8s::StorageClass waiting_class(const char* name, const char* zone = nullptr) {
  k8s::StorageClass made;
  made.metadata.name = name;
  made.provisioner = "p";
  made.binding_mode = "WaitForFirstConsumer";
  if (zone != nullptr)
    made.allowed_topologies = k8s::NodeSelector{{term({label(kZone).in({zone})})}};
  return made;
}
k8s::PersistentVolumeClaim unbound(const char* name, const char* of) {
  k8s::PersistentVolumeClaim made = claim(name, "");
  made.metadata.uid = std::string("uid of ") + name;
  made.storage_class = of;
  return made;
}
k8s::PersistentVolumeClaim bound(const char* name, const char* to) {
  k8s::PersistentVolumeClaim made = claim(name, to);
  made.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  return made;
}
k8s::PersistentVolume of_driver(const char* name) {
  k8s::PersistentVolume made = volume(name);
  made.csi_driver = "d";
  made.csi_volume_handle = name;
  return made;
}
k8s::PersistentVolume in_zone(const char* name, const char* zone) {
  k8s::PersistentVolume made = volume(name);
  made.metadata.labels.set(kZone, zone);
  return made;
}
k8s::PersistentVolume on_host(const char* name, const char* host) {
  k8s::PersistentVolume made = volume(name);
  made.node_affinity = k8s::NodeSelector{{term({label(kHost).in({host})})}};
  return made;
}
k8s::CsiNode limited(const char* name, std::int32_t most) {
  k8s::CsiNode made;
  made.metadata.name = name;
  made.drivers = {{"d", most}};
  return made;
}
k8s::VolumeAttachment attachment(const char* name, const char* node, const char* of) {
  k8s::VolumeAttachment made;
  made.metadata.name = name;
  made.attacher = "d";
  made.node = node;
  made.volume = of;
  return made;
}
k8s::PersistentVolumeClaim for_one_pod(const char* name, const char* to) {
  k8s::PersistentVolumeClaim made = bound(name, to);
  made.access_modes = {"ReadWriteOncePod"};
  return made;
}
k8s::Volume disk(const char* id) {
  k8s::Volume made{"disk", k8s::Volume::Kind::kDisk, "", "gcePersistentDisk"};
  made.disk.id = id;
  return made;
}

using Do = std::function<void(Cluster&)>;
// A cluster in which the plugin refuses the pod, and events, each by itself: whether the pod is
// tried again, which then has a node.
struct Row {
  const char* name;
  Do happens;
  bool helps;
};
struct Table {
  const char* plugin;
  Do before;
  k8s::Pod pod;
  std::vector<Row> events;
};

template <typename... Objects>
Do come(Objects... objects) {
  return [=](Cluster& c) { (c.has(objects), ...); };
}
Do gone(const k8s::Pod& pod) {
  return [=](Cluster& c) { c.gone(pod); };
}
template <typename Object>
Do gone(const char* name, const char* name_space = "") {
  return [=](Cluster& c) { c.template lacks<Object>(name, name_space); };
}

std::vector<Table> tables() {
  std::vector<Table> all;
  {
    const k8s::Pod big = our_pod("big").cpu("6").on("n");
    const k8s::Pod small = our_pod("small").cpu("1").on("n");
    k8s::Pod shrunk = big;
    shrunk.spec.containers.front().requests = tests::resources({{"cpu", "1"}});
    all.push_back({"NodeResourcesFit",
                   come(k8s::Node(node("n").cpu("8")), big, small),
                   our_pod("p").cpu("4"),
                   {{"a pod goes that leaves enough", gone(big), true},
                    {"a pod goes that leaves too little", gone(small), false},
                    {"a pod is resized", come(shrunk), true},
                    {"a node with room", come(k8s::Node(node("m").cpu("8"))), true},
                    {"a node without", come(k8s::Node(node("m").cpu("2"))), false},
                    {"more CPU on the node", come(k8s::Node(node("n").cpu("12"))), true},
                    {"more of something else", come(k8s::Node(node("n").cpu("8").gpus(1))), false},
                    {"another pod", come(k8s::Pod(our_pod("q").on("n"))), false},
                    {"a label", come(k8s::Node(node("n").cpu("8").labelled("a", "b"))), false},
                    {"a namespace", come(tests::name_space("ml")), false}}});
  }
  {
    const k8s::Pod there = our_pod("there").cpu("1").on("n");
    all.push_back({"NodeResourcesFit",
                   come(k8s::Node(node("n").cpu("8")), there),
                   our_pod("p").cpu("12"),  // more than any node has
                   {{"a pod goes", gone(there), false},
                    {"a node with room", come(k8s::Node(node("m").cpu("16"))), true},
                    {"more CPU on the node", come(k8s::Node(node("n").cpu("16"))), true},
                    {"a label", come(k8s::Node(node("n").cpu("8").labelled("a", "b"))), false}}});
  }
  all.push_back(
      {"NodeAffinity",
       come(k8s::Node(node("n"))),
       our_pod("p").selects("disk", "fast"),
       {{"the label comes", come(k8s::Node(node("n").labelled("disk", "fast"))), true},
        {"another label", come(k8s::Node(node("n").labelled("disk", "slow"))), false},
        {"a node with the label", come(k8s::Node(node("m").labelled("disk", "fast"))), true},
        {"a node without", come(k8s::Node(node("m"))), false},
        {"more CPU", come(k8s::Node(node("n").cpu("99"))), false}}});
  all.push_back({"TaintToleration",
                 come(k8s::Node(node("n").tainted("t"))),
                 our_pod("p"),
                 {{"the taint goes", come(k8s::Node(node("n"))), true},
                  {"another taint", come(k8s::Node(node("n").tainted("u"))), false},
                  {"a node without", come(k8s::Node(node("m"))), true},
                  {"a node with one", come(k8s::Node(node("m").tainted("t"))), false},
                  {"more CPU", come(k8s::Node(node("n").tainted("t").cpu("99"))), false}}});
  all.push_back({"NodeUnschedulable",
                 come(k8s::Node(node("n").cordoned())),
                 our_pod("p"),
                 {{"uncordoned", come(k8s::Node(node("n"))), true},
                  {"a node", come(k8s::Node(node("m"))), true},
                  {"a cordoned node", come(k8s::Node(node("m").cordoned())), false},
                  {"a label", come(k8s::Node(node("n").cordoned().labelled("a", "b"))), false}}});
  {
    const k8s::Pod there = our_pod("there").host_port(80).on("n");
    const k8s::Pod other = our_pod("other").host_port(81).on("n");
    all.push_back({"NodePorts",
                   come(k8s::Node(node("n")), there, other),
                   our_pod("p").host_port(80),
                   {{"the port is free", gone(there), true},
                    {"another port is free", gone(other), false},
                    {"a node", come(k8s::Node(node("m"))), true},
                    {"a label", come(k8s::Node(node("n").labelled("a", "b"))), false}}});
  }
  {
    const auto zoned = [](const char* name, const char* zone) {
      return k8s::Node(node(name).labelled(kZone, zone));
    };
    k8s::TopologySpreadConstraint spread;
    spread.max_skew = 1;
    spread.topology_key = kZone;
    spread.label_selector = tests::selector({{"app", "x"}});
    const k8s::Pod in_a = labelled("in-a").on("a");
    const k8s::Pod other = our_pod("other").labelled("app", "y").on("a");
    // One in zone a, none in zone b, where the node is full.
    const auto before = [=](Cluster& c) {
      c.has(zoned("a", "a"));
      c.has(k8s::Node(node("b").labelled(kZone, "b").cpu("0")));
      c.has(in_a);
      c.has(other);
    };
    all.push_back(
        {"PodTopologySpread",
         before,
         labelled("p").cpu("1").spread_over(spread),
         {{"one that counts goes", gone(in_a), true},
          {"one that does not count goes", gone(other), false},
          {"one counts no more", come(k8s::Pod(our_pod("in-a").labelled("app", "y").on("a"))),
           true},
          {"one comes where there is none", come(k8s::Pod(labelled("in-b").on("b"))), true},
          {"one comes that does not count",
           come(k8s::Pod(our_pod("q").labelled("app", "y").on("b"))), false},
          {"one comes in another namespace",
           come(k8s::Pod(labelled("q").in_namespace("ml").on("b"))), false},
          {"a node in the zone without", come(zoned("b2", "b")), true},
          {"a node in the zone with most", come(zoned("a2", "a")), false},
          {"a node without a zone", come(k8s::Node(node("c"))), false},
          {"the zone without goes", gone<k8s::Node>("b"), true},
          {"the node is in the zone without", come(zoned("b", "b")), true}}});
  }
  {
    const k8s::Pod there = labelled("there").on("a");
    const k8s::Pod other = our_pod("other").labelled("app", "y").on("a");
    const auto before = come(k8s::Node(node("a").labelled(kZone, "a")), there, other);
    all.push_back({"InterPodAffinity",
                   before,
                   our_pod("p").away_from(like(kZone)),
                   {{"the pod goes", gone(there), true},
                    {"another goes", gone(other), false},
                    {"the pod's label changes",
                     come(k8s::Pod(our_pod("there").labelled("app", "y").on("a"))), true},
                    {"another's label changes",
                     come(k8s::Pod(our_pod("other").labelled("app", "z").on("a"))), false},
                    {"a node elsewhere", come(k8s::Node(node("b").labelled(kZone, "b"))), true},
                    {"the node is elsewhere now", come(k8s::Node(node("a"))), true}}});
    all.push_back(
        {"InterPodAffinity",
         come(k8s::Node(node("a").labelled(kZone, "a")), k8s::Node(node("b")), other),
         our_pod("p").near(like(kZone)),
         {{"such a pod comes", come(there), true},
          {"another comes", come(k8s::Pod(our_pod("q").labelled("app", "z").on("a"))), false},
          {"one comes in another namespace",
           come(k8s::Pod(labelled("q").in_namespace("ml").on("a"))), false},
          {"one comes where there is no zone", come(k8s::Pod(labelled("q").on("b"))), false},
          {"a pod's label changes", come(k8s::Pod(labelled("other").on("a"))), true},
          {"a pod goes", gone(other), false}}});
    all.push_back({"InterPodAffinity",
                   come(k8s::Node(node("a").labelled(kZone, "a")),
                        k8s::Pod(our_pod("there").away_from(like(kZone)).on("a")), other),
                   labelled("p"),
                   {{"the pod goes that keeps others away",
                     gone(k8s::Pod(our_pod("there").away_from(like(kZone)).on("a"))), true},
                    {"another goes", gone(other), false},
                    {"a node elsewhere", come(k8s::Node(node("b").labelled(kZone, "b"))), true}}});
  }
  {
    const k8s::Pod there = our_pod("there").mounts(disk("x")).on("n");
    const k8s::Pod other = our_pod("other").mounts(disk("y")).on("n");
    all.push_back({"VolumeRestrictions",
                   come(k8s::Node(node("n")), there, other),
                   our_pod("p").mounts(disk("x")),
                   {{"the pod with the disk goes", gone(there), true},
                    {"another goes", gone(other), false},
                    {"a node", come(k8s::Node(node("m"))), true},
                    {"a claim", come(bound("c", "v")), false}}});
    const k8s::Pod has_it = our_pod("there").mounts_claim("own").on("n");
    all.push_back({"VolumeRestrictions",
                   come(k8s::Node(node("n")), for_one_pod("own", "v"), volume("v"), has_it, other),
                   our_pod("p").mounts_claim("own"),
                   {{"the pod with the claim goes", gone(has_it), true},
                    {"another goes", gone(other), false},
                    {"a node", come(k8s::Node(node("m"))), false}}});
    all.push_back({"VolumeRestrictions",
                   come(k8s::Node(node("n")), volume("v"), bound("d", "v")),
                   our_pod("p").mounts_claim("c"),
                   {{"the claim comes", come(bound("c", "v")), true},
                    {"another claim comes", come(bound("e", "v")), false},
                    {"another claim changes", come(bound("d", "w")), false},
                    {"a volume comes", come(volume("w")), false},
                    {"a class comes", come(waiting_class("c")), false},
                    {"a node", come(k8s::Node(node("m"))), false},
                    {"a pod goes", gone(other), false}}});
  }
  all.push_back({"VolumeBinding",
                 come(k8s::Node(node("n")), volume("v"), unbound("c", "now"), unbound("d", "now")),
                 our_pod("p").mounts_claim("c"),
                 {{"the claim is bound", come(bound("c", "v")), true},
                  {"another claim is bound", come(bound("d", "v")), false},
                  {"another class comes", come(waiting_class("other")), false},
                  {"a volume", come(volume("w")), false},
                  {"a node", come(k8s::Node(node("m"))), false}}});
  all.push_back({"VolumeBinding",
                 come(k8s::Node(node("n")), on_host("v", "m"), bound("c", "v"), on_host("w", "m")),
                 our_pod("p").mounts_claim("c"),
                 {{"a node where the volume is", come(k8s::Node(node("m"))), true},
                  {"a node where it is not", come(k8s::Node(node("o"))), false},
                  {"the label comes", come(k8s::Node(node("n").labelled(kHost, "m"))), true},
                  {"another volume changes", come(on_host("w", "n")), false},
                  {"the volume changes", come(on_host("v", "n")), true}}});
  all.push_back(
      {"VolumeZone",
       come(k8s::Node(node("n").labelled(kZone, "a")), in_zone("v", "b"), bound("c", "v")),
       our_pod("p").mounts_claim("c"),
       {{"a node in the zone", come(k8s::Node(node("m").labelled(kZone, "b"))), true},
        {"a node in another", come(k8s::Node(node("m").labelled(kZone, "c"))), false},
        {"the node is in the zone", come(k8s::Node(node("n").labelled(kZone, "b"))), true},
        {"the volume's label changes", come(in_zone("v", "a")), true},
        {"another volume", come(in_zone("w", "a")), false}}});
  {
    const k8s::Pod there = our_pod("there").mounts_claim("d").on("n");
    const k8s::Pod other = our_pod("other").on("n");
    const auto before = [=](Cluster& c) {
      c.has(k8s::Node(node("n")));
      c.has(limited("n", 2));
      for (const char* name : {"v", "w", "x"}) c.has(of_driver(name));
      c.has(bound("c", "v"));
      c.has(bound("d", "w"));
      c.has(attachment("left", "n", "x"));
      c.has(there);
      c.has(other);
    };
    all.push_back({"NodeVolumeLimits",
                   before,
                   our_pod("p").mounts_claim("c"),
                   {{"a pod with a volume goes", gone(there), true},
                    {"another goes", gone(other), false},
                    {"an attachment goes", gone<k8s::VolumeAttachment>("left"), true},
                    {"one comes", come(attachment("more", "m", "x")), false},
                    {"more room", come(limited("n", 3)), true},
                    {"less room", come(limited("n", 1)), false},
                    {"a node", come(k8s::Node(node("m"))), true}}});
  }
  {
    const auto declaring = [](const char* name, std::vector<std::string> features) {
      k8s::Node made = node(name);
      made.status.declared_features = std::move(features);
      return made;
    };
    constexpr const char* kRestart = "RestartAllContainersOnContainerExits";
    k8s::Pod restarts = our_pod("p");
    restarts.spec.containers.front().restarts_all_containers = true;
    all.push_back({"NodeDeclaredFeatures",
                   come(declaring("n", {"Another"})),
                   restarts,
                   {{"the feature comes", come(declaring("n", {"Another", kRestart})), true},
                    {"another feature", come(declaring("n", {"Other"})), false},
                    {"a node with the feature", come(declaring("m", {kRestart})), true},
                    {"a node without", come(declaring("m", {})), false}}});
  }
  return all;
}

bool is_about(const Decision& decision, const std::string& name) {
  const auto* bind = std::get_if<decision::Bind>(&decision);
  const auto* refusal = std::get_if<decision::Unschedulable>(&decision);
  return (bind != nullptr && bind->pod.name == name) ||
         (refusal != nullptr && refusal->pod.name == name);
}

}  // namespace

TEST_CASE("a pod is tried again after the events that kube-scheduler tries it again after") {
  const std::string config = tests::source_dir() + "/manifests/policies/kube-scheduler.yaml";
  int rows = 0;
  for (const Table& table : tables()) {
    for (const Row& event : table.events) {
      CAPTURE(table.plugin, event.name);
      Cluster cluster = Cluster::configured_by(config);
      table.before(cluster);
      cluster.decide();
      cluster.has(table.pod);
      const std::vector<Decision> first = cluster.decide();
      REQUIRE(first.size() == 1);
      const auto* refusal = std::get_if<decision::Unschedulable>(&first.front());
      REQUIRE(refusal != nullptr);
      CHECK(std::find(refusal->plugins.begin(), refusal->plugins.end(), table.plugin) !=
            refusal->plugins.end());
      cluster.wait(20s);
      CHECK(cluster.decide().empty());

      event.happens(cluster);
      std::vector<Decision> then;
      for (int second = 0; second < 3; ++second) {
        for (Decision& decision : cluster.decide()) {
          if (is_about(decision, "p")) then.push_back(std::move(decision));
        }
        cluster.wait(1s);
      }
      if (event.helps) {
        REQUIRE(then.size() == 1);
        CHECK(std::holds_alternative<decision::Bind>(then.front()));
      } else {
        CHECK(then.empty());
      }
      ++rows;
    }
  }
  CHECK(rows == 98);
}
