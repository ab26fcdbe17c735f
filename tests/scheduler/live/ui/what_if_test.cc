// Pods that are asked about and are not there.
#include "scheduler/live/ui/what_if.h"

#include "tests/support/catch.h"

#include <string>

using sched::live::read_what_if;
using sched::live::WhatIf;

namespace {

const std::vector<std::string> kServed = {"gpu-scheduler", "other"};

WhatIf read(const sched::server::Query& query) {
  auto what = read_what_if(query, kServed);
  INFO((what ? "" : what.error()));
  REQUIRE(what);
  return *what;
}

std::string error_of(const sched::server::Query& query) {
  const auto what = read_what_if(query, kServed);
  return what ? "none" : what.error();
}

}  // namespace

TEST_CASE("a number of GPUs of a type is a pod that asks for them") {
  const WhatIf what = read({{"namespace", "ml"}, {"gpus", "4"}, {"type", "H100"}});
  CHECK(what.pod.metadata.namespace_ == "ml");
  const std::string* type = what.pod.metadata.annotations.find("gpu-scheduler.io/gpu-type");
  REQUIRE(type != nullptr);
  CHECK(*type == "H100");
  CHECK(what.pod.spec.scheduler_name == "gpu-scheduler");
  REQUIRE(what.pod.spec.containers.size() == 1);
  const k8s::Container& container = what.pod.spec.containers.front();
  for (const auto* amounts : {&container.limits, &container.requests}) {
    REQUIRE(amounts->size() == 1);
    CHECK(amounts->front().first == "nvidia.com/gpu");
    CHECK(amounts->front().second.value() == 4);
  }
  CHECK(what.notes.empty());
  CHECK(read({{"gpus", "0"}, {"type", ""}}).pod.spec.containers[0].limits.empty());
  CHECK(read({{"gpus", "1"}}).pod.metadata.namespace_ == "default");
  CHECK(read({{"gpus", "1"}, {"tolerates", ""}}).pod.spec.tolerations.empty());
  CHECK(read({{"gpus", "0"}, {"tolerates", "nvidia.com/gpu"}}).pod.spec.tolerations.empty());
  const WhatIf tolerating = read({{"gpus", "1"}, {"tolerates", "nvidia.com/gpu"}});
  REQUIRE(tolerating.pod.spec.tolerations.size() == 1);
  CHECK(tolerating.pod.spec.tolerations.front().tolerates(
      {.key = "nvidia.com/gpu", .value = "present", .effect = k8s::TaintEffect::kNoExecute}));
}

TEST_CASE("a manifest is a pod that the engine does not know, and has no node") {
  const WhatIf what = read({{"namespace", "ml"}, {"manifest", R"(
apiVersion: v1
kind: Pod
metadata: {name: train-0, uid: of-one-that-runs}
spec:
  schedulerName: other
  nodeName: n1
  resources: {limits: {cpu: 3}}
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 2}}}]
)"}});
  CHECK(what.pod.metadata.uid == "what-if");
  CHECK(what.pod.metadata.name == "train-0");
  CHECK(what.pod.spec.node_name.empty());
  CHECK(what.pod.spec.resource_requests ==
        k8s::ResourceList{{"cpu", k8s::Quantity::of(3)}});  // as an API server would add
  CHECK(what.pod.spec.scheduler_name == "other");
  CHECK(what.notes.empty());
  CHECK(read({{"manifest", "{kind: Pod, metadata: {name: a, labels: {team: R&D}}}"}})
            .pod.metadata.name == "a");  // no anchor
  CHECK(read({{"manifest", R"({"kind": "Pod", "metadata": {"namespace": "own"}})"}})
            .pod.metadata.namespace_ == "own");
}

TEST_CASE("what is read otherwise than it stands there is noted") {
  const WhatIf what = read({{"manifest", R"(
{kind: Pod, spec: {schedulingGates: [{name: g}], priorityClassName: high, containers: []}}
)"}});
  CHECK(what.pod.spec.scheduler_name == "gpu-scheduler");
  REQUIRE(what.notes.size() == 3);
  CHECK_THAT(what.notes[0], Catch::Contains("schedulerName is \"default-scheduler\""));
  CHECK_THAT(what.notes[1], Catch::Contains("gates"));
  CHECK_THAT(what.notes[2], Catch::Contains("priority class"));
}

TEST_CASE("what makes no sense is refused in words") {
  struct Case {
    sched::server::Query query;
    std::string want;
  };
  for (const Case& each :
       std::vector<Case>{{{}, "gpus \"\": it must be a number from 0 to 1000"},
                         {{{"gpus", "-1"}}, "gpus \"-1\""},
                         {{{"gpus", "1001"}}, "from 0 to 1000"},
                         {{{"gpus", "1x"}}, "gpus \"1x\""},
                         {{{"gpu", "1"}}, "there is no parameter \"gpu\""},
                         {{{"manifest", "kind: Job"}}, "want a Pod, found kind \"Job\""},
                         {{{"manifest", "[1]"}}, "want a Pod"},
                         {{{"manifest", "{"}}, "manifest:1"},
                         {{{"manifest", "kind: Pod\n---\nkind: Pod"}}, "no other document"},
                         {{{"manifest", "kind: 7"}}, "the manifest is no object"},
                         {{{"manifest", "kind: Pod\nspec: &a {}"}}, "anchors"},
                         {{{"manifest", "{kind: Pod, spec: {containers: 7}}"}}, "containers"}}) {
    CHECK_THAT(error_of(each.query), Catch::Contains(each.want));
  }
}
