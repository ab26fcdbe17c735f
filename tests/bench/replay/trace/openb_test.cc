// openb's format: what a row becomes, what is wrong with bad ones, and the published files as a
// whole.
#include "bench/replay/trace/openb.h"

#include "bench/replay/trace/gpu_amounts.h"
#include "tests/bench/replay/trace/trace_files.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"

#include <map>

namespace bench::replay {
namespace {

using tests::quantity;

constexpr const char* kNodes = "sn,cpu_milli,memory_mib,gpu,model\n";
constexpr const char* kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

k8s::Quantity amount(const k8s::ResourceList& list, std::string_view name) {
  for (const auto& [key, value] : list) {
    if (key == name) return value;
  }
  return {};
}

TEST_CASE("a row of openb's node list is a node") {
  const auto nodes =
      read_openb_nodes({"n", std::string(kNodes) + "a,64000,262144,2,P100\r\nb,1,2,0,"});
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 2);
  const k8s::Node& a = nodes->front();
  CHECK(a.metadata.name == "a");
  CHECK(*a.metadata.labels.find("nvidia.com/gpu.product") == "P100");
  CHECK(amount(a.status.allocatable, "cpu") == quantity("64"));
  CHECK(amount(a.status.allocatable, "memory") == quantity("256Gi"));
  CHECK(amount(a.status.allocatable, "nvidia.com/gpu") == quantity("2"));
  CHECK(amount(a.status.allocatable, "gpu-scheduler.io/gpu-milli") == quantity("2000"));
  const k8s::Node& b = nodes->back();
  CHECK(b.metadata.labels.find("nvidia.com/gpu.product") == nullptr);
  CHECK(gpus_of(b) == 0);
}

TEST_CASE("a row of openb's pod list is a pod") {
  const auto pods = read_openb_pods(
      {"p", std::string(kPods) + "a,6000,12288,1,460,T4|P100|T4,LS,Running,10,12.5,11\n"
                                 "b,1000,0,8,1000,,LS,Pending,10,,\n"
                                 "c,1000,1024,0,0,,BE,Failed,,20,\n"});
  REQUIRE(pods);
  REQUIRE(pods->size() == 3);
  const TracePod& a = pods->front();
  CHECK(a.pod.metadata.namespace_ == "default");
  CHECK(a.pod.metadata.uid == "default/a");
  CHECK(a.created == Moment(10'000));
  CHECK(a.deleted == Moment(12'500));
  const k8s::Container& container = a.pod.spec.containers.at(0);
  CHECK(
      container.requests ==
      tests::resources({{"cpu", "6"}, {"memory", "12Gi"}, {"gpu-scheduler.io/gpu-milli", "460"}}));
  CHECK(container.limits == container.requests);
  CHECK_FALSE((*pods)[1].deleted);
  CHECK_FALSE((*pods)[2].created);

  const auto demands = demands_of(*pods);
  CHECK(demands[0] ==
        sched::gpu::Demand{.gpus = 1, .milli = 460, .instances = {}, .products = {"P100", "T4"}});
  CHECK(demands[1] ==
        sched::gpu::Demand{.gpus = 8, .milli = 1'000, .instances = {}, .products = {}});
  CHECK(demands[2].is_none());
}

TEST_CASE("the short pod lists are read as well, and one milli-thousand is a whole GPU") {
  const auto pods =
      read_openb_pods({"p", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,2,1,1000\n"});
  REQUIRE(pods);
  const auto demand = demands_of(*pods).at(0);
  CHECK(demand.gpus == 1);
  CHECK_FALSE(demand.is_share());
  CHECK_FALSE(pods->front().created);
}

TEST_CASE("a bad row of openb's lists is an error with its place") {
  struct Case {
    std::string name;
    bool of_nodes;
    std::string rows;
    std::string want;
  };
  const std::string good = "a,1,2,0,0,,,,,,\n";
  const std::vector<Case> cases = {
      {"no number", true, "a,x,2,0,T4\n",
       "f:2:3: cpu_milli \"x\": want a whole number from 0 to 1000000000"},
      {"an empty number", true, "a,1,,0,T4\n",
       "f:2:5: memory_mib \"\": want a whole number from 0 to 1000000000"},
      {"a negative number", true, "a,1,-2,0,T4\n",
       "f:2:5: memory_mib \"-2\": want a whole number from 0 to 1000000000"},
      {"a fraction", true, "a,1,2,0.5,T4\n",
       "f:2:7: gpu \"0.5\": want a whole number from 0 to 64"},
      {"too many GPUs", true, "a,1,2,65,T4\n",
       "f:2:7: gpu \"65\": want a whole number from 0 to 64"},
      {"huge", true, "a,99999999999999999999,2,0,T4\n",
       "f:2:3: cpu_milli \"99999999999999999999\": want a whole number from 0 to 1000000000"},
      {"a node without a name", true, ",1,2,0,T4\n", "f:2:1: sn \"\": want a name"},
      {"a node twice", true, "a,1,2,0,\nb,1,2,0,\na,1,2,0,\n",
       "f:4:1: sn \"a\": want a name that is there once; line 2 has it as well"},
      {"a pod twice", false, good + good,
       "f:3:1: name \"a\": want a name that is there once; line 2 has it as well"},
      {"too few fields", false, good + "b,1\n", "f:3:3: found 2 fields, want 11 as in the header"},
      {"too many fields", true, "a,1,2,0,T4,x\n", "f:2:9: found 6 fields, want 5 as in the header"},
      {"a blank line between rows", true, "\na,1,2,0,T4\n",
       "f:2:1: found 1 fields, want 5 as in the header"},
      {"a share of several GPUs", false, "a,1,2,2,500,,,,,,\n",
       "f:2:9: gpu_milli \"500\": want 1000, since num_gpu is above 1: shares of several GPUs are "
       "unknown"},
      {"a share of no GPU", false, "a,1,2,0,500,,,,,,\n",
       "f:2:9: gpu_milli \"500\": want 0, since num_gpu is 0"},
      {"nothing of a GPU", false, "a,1,2,1,0,,,,,,\n",
       "f:2:9: gpu_milli \"0\": want 1 to 1000, since num_gpu is 1"},
      {"more than a GPU", false, "a,1,2,1,1001,,,,,,\n",
       "f:2:9: gpu_milli \"1001\": want a whole number from 0 to 1000"},
      {"a time that is none", false, "a,1,2,0,0,,,,soon,,\n",
       "f:2:14: creation_time \"soon\": want seconds since the trace began, from 0 to "
       "100000000000, or nothing"},
      {"a negative time", false, "a,1,2,0,0,,,,-1,,\n",
       "f:2:14: creation_time \"-1\": want seconds since the trace began, from 0 to 100000000000, "
       "or nothing"},
      {"deleted before it was created", false, "a,1,2,0,0,,,,5,4,\n",
       "f:2:16: deletion_time \"4\": want a time that is not before creation_time"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      if (c.of_nodes) {
        const auto read = read_openb_nodes({"f", kNodes + c.rows});
        REQUIRE_FALSE(read);
        CHECK(read.error().message == c.want);
      } else {
        const auto read = read_openb_pods({"f", kPods + c.rows});
        REQUIRE_FALSE(read);
        CHECK(read.error().message == c.want);
      }
    }
  }
}

TEST_CASE("a bad header is an error with its place") {
  struct Case {
    std::string name;
    std::string text;
    std::string want;
  };
  const std::string wanted = "want sn, cpu_milli, memory_mib, gpu, model";
  const std::vector<Case> cases = {
      {"no header", "",
       "f:1:1: the file is empty, want a header with sn, cpu_milli, memory_mib, gpu, model"},
      {"a column too few", "sn,cpu_milli,memory_mib,gpu\n",
       "f:1:1: column \"model\" is missing, " + wanted},
      {"an unknown column", "sn,cpu_milli,memory_mib,gpu,model,rack\n",
       "f:1:35: unknown column \"rack\", " + wanted},
      {"a column twice", "sn,cpu_milli,sn,memory_mib,gpu,model\n",
       "f:1:14: column \"sn\" is there twice"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const auto read = read_openb_nodes({"f", c.text});
      REQUIRE_FALSE(read);
      CHECK(read.error().message == c.want);
    }
  }
}

// The published files, as they were counted by other means.
struct Counted {
  std::string variant;
  std::size_t pods, without_gpu, shares, single, two, four, eight;
  std::int64_t gpus;  // requested, rounded down
  std::size_t bound_to_models;
};

const std::vector<Counted>& published_files() {
  static const std::vector<Counted> files = {
      {"default", 8152, 1088, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu0", 7064, 0, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu037", 7336, 272, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu050", 7439, 375, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu072", 7608, 544, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu100", 7853, 789, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu200", 8832, 1768, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu235", 9240, 2176, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu250", 9420, 2356, 3078, 3911, 16, 15, 44, 6087, 0},
      {"cpu300", 10094, 3030, 3078, 3911, 16, 15, 44, 6087, 0},
      {"gpushare20", 8152, 1088, 2324, 4653, 12, 13, 62, 6532, 0},
      {"gpushare40", 8152, 1088, 4001, 3001, 12, 11, 39, 5641, 0},
      {"gpushare60", 8152, 1088, 5233, 1801, 7, 9, 14, 4908, 0},
      {"gpushare80", 8152, 1088, 6279, 768, 2, 3, 12, 4408, 0},
      {"gpushare100", 8152, 1088, 7064, 0, 0, 0, 0, 3953, 0},
      {"gpuspec05", 8152, 1088, 3078, 3911, 16, 15, 44, 6087, 369},
      {"gpuspec10", 8152, 1088, 3078, 3911, 16, 15, 44, 6087, 732},
      {"gpuspec20", 8152, 1088, 3078, 3911, 16, 15, 44, 6087, 1444},
      {"gpuspec25", 8152, 1088, 3078, 3911, 16, 15, 44, 6087, 1759},
      {"gpuspec33", 8152, 1088, 3078, 3911, 16, 15, 44, 6087, 2388},
      {"multigpu20", 8324, 1088, 3078, 3911, 54, 52, 141, 7087, 0},
      {"multigpu30", 8508, 1088, 3078, 3911, 112, 83, 236, 8087, 0},
      {"multigpu40", 8746, 1088, 3078, 3911, 156, 154, 359, 9443, 0},
      {"multigpu50", 9061, 1088, 3078, 3911, 222, 206, 556, 11359, 0},
  };
  return files;
}

// Each file from end to end; of the files every sixth, or all of them (tests/support/full.h).
TEST_CASE("the published openb files are read in full") {
  const auto folder = openb_folder();
  if (!folder) return;
  for (std::size_t i = 0; i < published_files().size(); i += tests::every(6)) {
    const Counted& want = published_files()[i];
    DYNAMIC_SECTION(want.variant) {
      const auto trace = read_trace({.nodes = *folder + "openb_node_list_gpu_node.csv",
                                     .pods = *folder + "openb_pod_list_" + want.variant + ".csv"});
      REQUIRE(trace);
      CHECK(trace->name == "openb_pod_list_" + want.variant);
      CHECK(trace->devices_apart);
      CHECK(capacity_milli(*trace) == 6'212'000);
      auto counts = trace->counts;
      CHECK(counts["nodes"] == 1'213);
      CHECK(counts["GPUs"] == 6'212);
      CHECK(counts["pods"] == want.pods);
      CHECK(counts["pods without GPU"] == want.without_gpu);
      CHECK(counts["pods with a share of a GPU"] == want.shares);
      CHECK(counts["pods with one GPU"] == want.single);
      CHECK(counts["pods bound to GPU models"] == want.bound_to_models);
      std::map<std::int64_t, std::size_t> several;
      std::int64_t milli = 0;
      for (const sched::gpu::Demand& demand : demands_of(trace->pods)) {
        milli += demand.total_milli();
        if (demand.gpus > 1) ++several[demand.gpus];
      }
      CHECK(several[2] == want.two);
      CHECK(several[4] == want.four);
      CHECK(several[8] == want.eight);
      CHECK(counts["pods with several GPUs"] == want.two + want.four + want.eight);
      CHECK((milli / 1'000 == want.gpus || (milli + 500) / 1'000 == want.gpus));
    }
  }
}

TEST_CASE("the published list of all nodes is read in full") {
  const auto folder = openb_folder();
  if (!folder) return;
  const auto trace = read_trace({.nodes = *folder + "openb_node_list_all_node.csv",
                                 .pods = *folder + "openb_pod_list_multigpu20.csv"});
  REQUIRE(trace);
  CHECK(trace->counts.at("nodes") == 1'523);
  CHECK(trace->counts.at("nodes with GPU") == 1'213);
  CHECK(trace->counts.at("pods without creation time") == 8'324);
}

}  // namespace
}  // namespace bench::replay
