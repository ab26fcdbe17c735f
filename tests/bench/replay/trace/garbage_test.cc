// Damaged traces: every reader gives a trace or an error with its place, and never crashes.
#include "bench/replay/trace/cluster_dump.h"
#include "bench/replay/trace/csv.h"
#include "bench/replay/trace/openb.h"
#include "bench/replay/trace/simple.h"
#include "tests/support/catch.h"

#include <random>

namespace bench::replay {
namespace {

using Generator = std::mt19937_64;

std::size_t below(Generator& random, std::size_t bound) { return random() % bound; }

// A byte changed, taken out or put in, or a piece doubled, one to eight times.
std::string damaged(std::string text, Generator& random) {
  constexpr std::string_view kBytes = ",\n\r\"{}[]:\\-.0129eE|xZ \t";
  for (std::size_t left = 1 + below(random, 8); left > 0 && !text.empty(); --left) {
    const std::size_t at = below(random, text.size());
    const char byte = kBytes[below(random, kBytes.size())];
    switch (below(random, 4)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.erase(at, 1 + below(random, 5));
        break;
      case 2:
        text.insert(at, 1, byte);
        break;
      default:
        text.insert(at, text.substr(below(random, text.size()), below(random, 40)));
    }
  }
  return text;
}

template <typename Read>
void survives(const std::string& text, Read read) {
  Generator random(5);
  std::size_t refused = 0;
  constexpr std::size_t kTexts = 2'000;
  for (std::size_t i = 0; i < kTexts; ++i) {
    const TextFile file{.path = "f", .text = damaged(text, random)};
    const auto result = read(file);
    if (result) continue;
    ++refused;
    if (result.error().message.find("f:") == std::string::npos) {
      FAIL(result.error().message << "\nof " << file.text);
    }
  }
  CHECK(refused > kTexts / 10);
  CHECK(refused < kTexts);
}

TEST_CASE("damaged openb lists are read or refused with their place") {
  survives("sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\nb,96000,393216,8,G2\n",
           read_openb_nodes);
  survives(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\na,6000,12288,1,460,T4|P100,LS,Running,10,12.5,11\n"
      "b,1000,0,8,1000,,LS,Pending,10,,\n",
      read_openb_pods);
}

TEST_CASE("damaged tables of our own are read or refused with their place") {
  survives("name,cpu,memory,gpus,gpu_model,label:zone\na,96,1Ti,8,\"A, B\",z\nb,500m,64Gi,0,,\n",
           read_simple_nodes);
  survives(
      "namespace,name,cpu,memory,gpus,gpu_models,created,deleted\n"
      "ml,a,4,16Gi,0.25,T4|A10,2030-01-31T08:00:00Z,2030-01-31T09:00:00Z\nml,b,32,256Gi,8,,,\n",
      read_simple_pods);
}

TEST_CASE("damaged dumps are read or refused with their place") {
  survives(
      R"({"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"nvidia.com/gpu": "2"}}},
  {"kind": "Pod", "metadata": {"name": "p", "namespace": "ml",
                               "creationTimestamp": "2030-01-31T08:00:00Z"},
   "status": {"phase": "Failed", "containerStatuses": [
      {"state": {"terminated": {"finishedAt": "2030-01-31T08:00:05Z"}}}]}}]})",
      read_cluster_dump);
  survives(
      "kind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 8}}\n---\nkind: List\nitems:\n"
      "- kind: Pod\n  metadata: {name: p}\n  spec: {nodeName: a}\n",
      read_cluster_dump);
}

TEST_CASE("what is written as RFC 4180 has it is read back") {
  Generator random(7);
  constexpr std::string_view kBytes = "ab ,\"\r\n";
  for (std::size_t round = 0; round < 500; ++round) {
    std::vector<std::vector<std::string>> rows(1 + below(random, 4));
    std::string text;
    for (auto& row : rows) {
      row.resize(2 + below(random, 3));  // a single empty field would be a blank line
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::string quoted;
        for (std::size_t left = below(random, 6); left > 0; --left) {
          row[i] += kBytes[below(random, kBytes.size())];
          quoted += row[i].back() == '"' ? "\"\"" : std::string(1, row[i].back());
        }
        text += (i > 0 ? ",\"" : "\"") + quoted + '"';
      }
      text += below(random, 2) == 0 ? "\n" : "\r\n";
    }
    CsvReader reader(text, "f");
    for (const auto& want : rows) {
      const auto row = reader.next();
      REQUIRE(row);
      REQUIRE(row->has_value());
      std::vector<std::string> read;
      for (const CsvField& field : **row) read.push_back(field.text);
      REQUIRE(read == want);
    }
    REQUIRE_FALSE(reader.next().value().has_value());
  }
}

}  // namespace
}  // namespace bench::replay
