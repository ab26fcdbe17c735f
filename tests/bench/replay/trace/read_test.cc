// Whole traces: which format it is, what is counted, and what is done for GPUs that are kept apart.
#include "bench/replay/trace/read.h"

#include "tests/bench/replay/trace/trace_files.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <zlib.h>

namespace bench::replay {
namespace {

const std::string kSimpleNodes = "name,cpu,memory,gpus,gpu_model\nn,8,64Gi,2,T4\nm,8,64Gi,0,\n";
const std::string kSimplePods =
    "name,cpu,memory,gpus,gpu_models,created,deleted\na,1,1Gi,2,T4,0,5\nb,1,1Gi,0,,1,\n";

const std::string kDump =
    R"({"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"nvidia.com/gpu": "2"}}},
  {"kind": "Pod", "metadata": {"name": "whole", "namespace": "ml"}, "spec": {"containers": [
      {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "2"}}}]}},
  {"kind": "Pod", "metadata": {"name": "other", "namespace": "ml"}, "spec": {"containers": [
      {"name": "c", "resources": {"requests": {"RESOURCE": "1"}}}]}},
  {"kind": "Pod", "metadata": {"name": "agent", "namespace": "ml",
      "ownerReferences": [{"kind": "DaemonSet", "name": "d", "uid": "d", "controller": true}]},
    "spec": {"nodeName": "gone"}}]})";

std::string dump_with(const std::string& resource) {
  std::string text = kDump;
  text.replace(text.find("RESOURCE"), 8, resource);
  return text;
}

Trace read(const TraceFiles& files) {
  const auto trace = read_trace(files);
  INFO((trace ? "" : trace.error().message));
  REQUIRE(trace);
  return *trace;
}

TEST_CASE("tables are read, counted and named") {
  const Trace trace = read({.nodes = written("t-nodes.csv", kSimpleNodes),
                            .pods = written("my.trace.csv", kSimplePods)});
  CHECK(trace.name == "my.trace");
  CHECK_FALSE(trace.devices_apart);
  CHECK(trace.counts == std::map<std::string, std::size_t>{{"GPUs", 2},
                                                           {"nodes", 2},
                                                           {"nodes with GPU", 1},
                                                           {"pods", 2},
                                                           {"pods bound to GPU models", 1},
                                                           {"pods with several GPUs", 1},
                                                           {"pods without GPU", 1},
                                                           {"pods without end", 1}});
}

TEST_CASE("line ends, a byte order mark and gzip change nothing") {
  const Trace plain = read(
      {.nodes = written("t-nodes.csv", kSimpleNodes), .pods = written("t-pods.csv", kSimplePods)});
  std::string crlf = "\xEF\xBB\xBF" + kSimplePods;
  for (auto at = crlf.find('\n'); at != std::string::npos; at = crlf.find('\n', at + 2)) {
    crlf.insert(at, 1, '\r');
  }
  const std::string gzipped = tests::scratch_dir() + "/t-pods.csv.gz";
  gzFile out = gzopen(gzipped.c_str(), "wb");
  gzwrite(out, crlf.data(), static_cast<unsigned>(crlf.size()));
  gzclose(out);
  const Trace same = read({.nodes = written("t-nodes.csv", kSimpleNodes), .pods = gzipped});
  CHECK(same.name == plain.name);
  CHECK(same.counts == plain.counts);
  REQUIRE(same.pods.size() == plain.pods.size());
  for (std::size_t i = 0; i < same.pods.size(); ++i) {
    CHECK(same.pods[i].pod == plain.pods[i].pod);
    CHECK(same.pods[i].deleted == plain.pods[i].deleted);
  }
}

TEST_CASE("one dump of a cluster is both nodes and pods, and GPUs are counted") {
  const std::string file = written("t-dump.json", dump_with("example.com/x"));
  const Trace trace = read({.nodes = file, .pods = file});
  CHECK(trace.name == "t-dump");
  CHECK_FALSE(trace.devices_apart);
  CHECK(trace.nodes.at(0).status.allocatable == tests::resources({{"nvidia.com/gpu", "2"}}));
  CHECK(trace.counts == std::map<std::string, std::size_t>{
                            {"GPUs", 2},
                            {"nodes", 1},
                            {"nodes with GPU", 1},
                            {"pods", 2},
                            {"pods bound to nodes that are not in the trace, left out", 1},
                            {"pods with several GPUs", 1},
                            {"pods without GPU", 1},
                            {"pods without creation time", 2},
                            {"pods without end", 2}});
}

TEST_CASE("a share of a GPU keeps them apart, and all is told in thousandths") {
  const std::string file = written("t-shares.json", dump_with("gpu-scheduler.io/gpu-milli"));
  const Trace trace = read({.nodes = file, .pods = file});
  CHECK(trace.devices_apart);
  CHECK(trace.nodes.at(0).status.allocatable ==
        tests::resources({{"nvidia.com/gpu", "2"}, {"gpu-scheduler.io/gpu-milli", "2000"}}));
  CHECK(trace.pods.at(0).pod.spec.containers.at(0).requests ==
        tests::resources({{"nvidia.com/gpu", "2"}, {"gpu-scheduler.io/gpu-milli", "2000"}}));
  CHECK(trace.pods.at(1).pod.spec.containers.at(0).requests ==
        tests::resources({{"gpu-scheduler.io/gpu-milli", "1"}}));
}

TEST_CASE("MIG instances keep GPUs apart unless nodes offer them") {
  const std::string with_mig = written("t-mig.json", dump_with("nvidia.com/mig-1g.10gb"));
  const Trace trace = read({.nodes = with_mig, .pods = with_mig});
  CHECK(trace.devices_apart);
  // A node that does not say its model cannot be partitioned.
  CHECK(trace.nodes.at(0).status.allocatable ==
        tests::resources({{"nvidia.com/gpu", "2"}, {"gpu-scheduler.io/gpu-milli", "2000"}}));
  // One that does offers the most of each profile.
  std::string text = dump_with("nvidia.com/mig-1g.10gb");
  const std::string name = R"("name": "n")";
  text.replace(text.find(name), name.size(),
               name + R"(, "labels": {"nvidia.com/gpu.product": "NVIDIA-A30"})");
  const std::string known = written("t-mig-known.json", text);
  CHECK(read({.nodes = known, .pods = known}).nodes.at(0).status.allocatable ==
        tests::resources({{"nvidia.com/gpu", "2"},
                          {"gpu-scheduler.io/gpu-milli", "2000"},
                          {"nvidia.com/mig-4g.24gb", "2"},
                          {"nvidia.com/mig-2g.12gb", "4"},
                          {"nvidia.com/mig-1g.6gb", "8"},
                          {"nvidia.com/mig-2g.12gb.me", "2"},
                          {"nvidia.com/mig-1g.6gb.me", "2"}}));

  text = dump_with("nvidia.com/mig-1g.10gb");
  text.replace(text.find("\"nvidia.com/gpu\": \"2\""), 0, "\"nvidia.com/mig-1g.10gb\": \"7\", ");
  const std::string counted = written("t-mig-counted.json", text);
  CHECK_FALSE(read({.nodes = counted, .pods = counted}).devices_apart);
}

TEST_CASE("formats may be mixed") {
  const std::string dump = written("t-dump.json", dump_with("example.com/x"));
  const Trace nodes_of_dump = read({.nodes = dump, .pods = written("t-pods.csv", kSimplePods)});
  CHECK(nodes_of_dump.counts.at("nodes") == 1);
  CHECK(nodes_of_dump.counts.at("pods") == 2);
  CHECK(nodes_of_dump.counts.at("pods in the nodes' file, not used") == 3);
  const Trace pods_of_dump = read({.nodes = written("t-nodes.csv", kSimpleNodes), .pods = dump});
  CHECK(pods_of_dump.counts.at("nodes") == 2);
  CHECK(pods_of_dump.counts.at("nodes in the pods' file, not used") == 1);
}

TEST_CASE("the sample trace can be read, and has a bit of everything") {
  const std::string folder = tests::source_dir() + "/bench/replay/sample/";
  const Trace trace = read({.nodes = folder + "nodes.csv", .pods = folder + "pods.csv"});
  CHECK(trace.devices_apart);
  CHECK(trace.counts.at("nodes") == 36);
  CHECK(trace.counts.at("GPUs") == 192);
  CHECK(trace.counts.at("pods") == 3'470);
  for (const char* kind : {"pods without GPU", "pods with a share of a GPU", "pods with one GPU",
                           "pods with several GPUs", "pods bound to GPU models"}) {
    CHECK(trace.counts.at(kind) > 100);
  }
}

TEST_CASE("files that are no trace are refused with the file's name") {
  const std::string nodes = written("t-nodes.csv", kSimpleNodes);
  const std::string absent = tests::scratch_dir() + "/t-absent.csv";
  const std::string empty = written("t-empty.csv", "");
  const std::string headed = written("t-headed.csv", "name,cpu,memory,gpus\n");
  const std::string latin = written("t-latin.csv", "name,cpu,memory,gpus\nm\xFCnchen,1,1,1\n");
  const std::string torn = written("t-torn.csv.gz", std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
  struct Case {
    std::string name;
    TraceFiles files;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"no such file", {nodes, absent}, absent + ": cannot open: No such file or directory"},
      {"a folder", {tests::scratch_dir(), nodes}, tests::scratch_dir() + ": cannot read: "},
      {"an empty file", {nodes, empty}, empty + ": there is no pod in it"},
      {"no rows", {headed, headed}, headed + ": there is no node in it"},
      {"not UTF-8", {latin, nodes}, latin + ": is not UTF-8 text; save it as UTF-8"},
      {"a broken gzip stream", {torn, nodes}, torn + ": "},
      {"the two taken for each other",
       {written("t-pods.csv", kSimplePods), nodes},
       ":1:22: unknown column \"gpu_models\""},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      INFO(error_of(c.files));
      CHECK(error_of(c.files).find(c.want) != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace bench::replay
