// The tables of our own: what a row becomes, and what is wrong with bad ones.
#include "bench/replay/trace/simple.h"

#include "bench/replay/trace/gpu_amounts.h"
#include "scheduler/framework/node_view.h"
#include "tests/bench/replay/trace/trace_files.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

namespace bench::replay {
namespace {

using std::chrono::seconds;

TEST_CASE("a row of the nodes' table is a node") {
  const auto nodes =
      read_simple_nodes({"f",
                         "name,gpus,cpu,memory,gpu_model,label:zone,resource:example.com/nic\n"
                         "a,8,96,1Ti,\"A100, 80GB\",z1,2\n"
                         "b,0,500m,64Gi,,,\n"});
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 2);
  const k8s::Node& a = nodes->front();
  CHECK(a.metadata.name == "a");
  CHECK(*a.metadata.labels.find("nvidia.com/gpu.product") == "A100, 80GB");
  CHECK(*a.metadata.labels.find("zone") == "z1");
  CHECK(a.status.allocatable == tests::resources({{"cpu", "96"},
                                                  {"memory", "1Ti"},
                                                  {"pods", "1000000"},
                                                  {"nvidia.com/gpu", "8"},
                                                  {"gpu-scheduler.io/gpu-milli", "8000"},
                                                  {"example.com/nic", "2"}}));
  const k8s::Node& b = nodes->back();
  CHECK(b.metadata.labels.find("zone") == nullptr);
  CHECK(b.status.allocatable ==
        tests::resources({{"cpu", "500m"}, {"memory", "64Gi"}, {"pods", "1000000"}}));
}

TEST_CASE("a row of the pods' table is a pod") {
  const auto pods = read_simple_pods(
      {"f",
       "namespace,name,cpu,memory,gpus,gpu_models,priority,created,deleted,resource:a.io/x\n"
       "ml,a,4,16Gi,0.25,T4|A10,100,1.5,60,1\n"
       "ml,b,32,256Gi,8,,,2,,\n"
       ",a,1,1Gi,0,,,,,\n"
       ",c,,,1.0,,-5,,,\n"});
  REQUIRE(pods);
  REQUIRE(pods->size() == 4);
  const TracePod& a = pods->front();
  CHECK(a.pod.metadata.namespace_ == "ml");
  CHECK(a.pod.metadata.uid == "ml/a");
  CHECK(a.pod.spec.priority == 100);
  CHECK(a.pod.spec.containers.at(0).requests ==
        tests::resources({{"cpu", "4"},
                          {"memory", "16Gi"},
                          {"gpu-scheduler.io/gpu-milli", "250"},
                          {"a.io/x", "1"}}));
  CHECK(a.created == Moment(1'500));
  CHECK(a.deleted == Moment(60'000));
  CHECK((*pods)[2].pod.metadata.namespace_ == "default");
  CHECK((*pods)[3].pod.spec.priority == -5);
  const auto demands = demands_of(*pods);
  CHECK(demands[0] ==
        sched::gpu::Demand{.gpus = 1, .milli = 250, .instances = {}, .products = {"A10", "T4"}});
  CHECK(demands[1] ==
        sched::gpu::Demand{.gpus = 8, .milli = 1'000, .instances = {}, .products = {}});
  CHECK(demands[2].is_none());
  CHECK(demands[3] ==
        sched::gpu::Demand{.gpus = 1, .milli = 1'000, .instances = {}, .products = {}});
}

TEST_CASE("dates count from the earliest") {
  const auto pods = read_simple_pods({"f",
                                      "name,cpu,memory,gpus,created,deleted\n"
                                      "a,1,1Gi,1,2030-01-31T08:00:10Z,\n"
                                      "b,1,1Gi,1,2030-01-31T09:00:00+01:00,2030-01-31T08:00:00.5Z\n"
                                      "c,1,1Gi,1,,2030-01-31T08:01:00Z\n"});
  REQUIRE(pods);
  CHECK((*pods)[0].created == seconds(10));
  CHECK((*pods)[1].created == seconds(0));
  CHECK((*pods)[1].deleted == Moment(500));
  CHECK_FALSE((*pods)[2].created);
  CHECK((*pods)[2].deleted == seconds(60));
}

TEST_CASE("a bad row of our tables is an error with its place") {
  struct Case {
    std::string name;
    bool of_nodes;
    std::string rows;
    std::string want;
  };
  const std::string gpus =
      "whole GPUs from 0 to 64, or a share of one such as 0.25, to three digits";
  const std::string quantity = "a Kubernetes quantity of zero or more, such as 500m, 8 or 64Gi";
  const std::string models = "models with a bar between them, such as A|B, or nothing";
  const std::string time =
      "seconds since the trace began, a date such as 2030-01-31T08:00:00Z, or nothing";
  const std::vector<Case> cases = {
      {"no quantity", true, "a,8 cores,1Gi,8\n", "f:2:3: cpu \"8 cores\": want " + quantity},
      {"a negative quantity", true, "a,8,-1Gi,8\n", "f:2:5: memory \"-1Gi\": want " + quantity},
      {"a share of a node's GPU", true, "a,8,1Gi,0.5\n",
       "f:2:9: gpus \"0.5\": want a whole number from 0 to 64"},
      {"a node twice", true, "a,1,1,1\na,1,1,1\n",
       "f:3:1: name \"a\": want a name that is there once; line 2 has it as well"},
      {"a pod without a name", false, ",,1,1,1,,,,\n", "f:2:2: name \"\": want a name"},
      {"a pod twice, its namespace once by default", false, ",a,1,1,1,,,,\ndefault,a,1,1,1,,,,\n",
       "f:3:9: name \"a\": want a name that is there once; line 2 has it as well"},
      {"a fraction of several GPUs", false, ",a,1,1,1.5,,,,\n",
       "f:2:8: gpus \"1.5\": want " + gpus},
      {"finer than a thousandth", false, ",a,1,1,0.1234,,,,\n",
       "f:2:8: gpus \"0.1234\": want " + gpus},
      {"no GPUs told", false, ",a,1,1,,,,,\n", "f:2:8: gpus \"\": want " + gpus},
      {"negative GPUs", false, ",a,1,1,-1,,,,\n", "f:2:8: gpus \"-1\": want " + gpus},
      {"too many GPUs", false, ",a,1,1,65,,,,\n", "f:2:8: gpus \"65\": want " + gpus},
      {"huge GPUs", false, ",a,1,1,9999999999999999,,,,\n",
       "f:2:8: gpus \"9999999999999999\": want " + gpus},
      {"a priority that is none", false, ",a,1,1,1,,high,,\n",
       "f:2:11: priority \"high\": want a whole number from -1000000000 to 2000001000"},
      {"a model without a name", false, ",a,1,1,1,T4||A10,,,\n",
       "f:2:10: gpu_models \"T4||A10\": want " + models},
      {"a bar behind the last model", false, ",a,1,1,1,T4|,,,\n",
       "f:2:10: gpu_models \"T4|\": want " + models},
      {"no time", false, ",a,1,1,1,,,noon,\n", "f:2:12: created \"noon\": want " + time},
      {"half a date", false, ",a,1,1,1,,,2030-01-31,\n",
       "f:2:12: created \"2030-01-31\": want " + time},
      {"dates after seconds", false, ",a,1,1,1,,,5,\n,b,1,1,1,,,2030-01-31T08:00:00Z,\n",
       "f:3:12: created \"2030-01-31T08:00:00Z\": want seconds, as in the rows before"},
      {"seconds after dates", false, ",a,1,1,1,,,2030-01-31T08:00:00Z,5\n",
       "f:2:33: deleted \"5\": want a date, as in the rows before"},
      {"deleted before it was created", false, ",a,1,1,1,,,5,4\n",
       "f:2:14: deleted \"4\": want a time that is not before created"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      if (c.of_nodes) {
        const auto read = read_simple_nodes({"f", "name,cpu,memory,gpus\n" + c.rows});
        REQUIRE_FALSE(read);
        CHECK(read.error().message == c.want);
      } else {
        const auto read = read_simple_pods(
            {"f", "namespace,name,cpu,memory,gpus,gpu_models,priority,created,deleted\n" + c.rows});
        REQUIRE_FALSE(read);
        CHECK(read.error().message == c.want);
      }
    }
  }
}

TEST_CASE("a misspelt column is an error that lists those there are") {
  const auto read = read_simple_pods({"f", "name,cpu,memory,gpus,model\n"});
  REQUIRE_FALSE(read);
  CHECK(read.error().message ==
        "f:1:22: unknown column \"model\", want name, cpu, memory, gpus, namespace, gpu_models, "
        "priority, created, deleted, resource:…");
}

TEST_CASE("what has a column of its own is not said twice") {
  for (const std::string column : {"resource:cpu", "resource:memory", "resource:nvidia.com/gpu",
                                   "resource:gpu-scheduler.io/gpu-milli"}) {
    INFO(column);
    const std::string header = "name,cpu,memory,gpus," + column + "\n";
    const std::string want = "f:1:22: column \"" + column + "\": another one says that, want name";
    const auto nodes = read_simple_nodes({"f", header});
    const auto pods = read_simple_pods({"f", header});
    REQUIRE_FALSE(nodes);
    REQUIRE_FALSE(pods);
    CHECK_THAT(nodes.error().message, Catch::StartsWith(want));
    CHECK_THAT(pods.error().message, Catch::StartsWith(want));
  }
  CHECK_FALSE(read_simple_nodes({"f", "name,cpu,memory,gpus,label:nvidia.com/gpu.product\n"}));
}

TEST_CASE("a resource that schedulers do not know is an error") {
  const auto pods = read_simple_pods({"f", "name,cpu,memory,gpus,resource:nic\n"});
  REQUIRE_FALSE(pods);
  CHECK(pods.error().message ==
        "f:1:22: column \"resource:nic\": no resource of Kubernetes; others have a domain: "
        "example.com/nic");
  CHECK(read_simple_pods({"f", "name,cpu,memory,gpus,resource:example.com/nic\n"}));
}

TEST_CASE("a column bounds the pods of a node") {
  const auto nodes =
      read_simple_nodes({"f", "name,cpu,memory,gpus,resource:pods\na,8,1Gi,1,110\n"});
  REQUIRE(nodes);
  sched::ResourceNames names;
  CHECK(sched::facts_of(nodes->front(), names).allocatable.get(sched::kPods) == 110);
}

}  // namespace
}  // namespace bench::replay
