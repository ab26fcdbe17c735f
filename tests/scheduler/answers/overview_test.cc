// What of all nodes, pods that wait and quotas is told at a glance.
#include "scheduler/answers/overview.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched;
using namespace sched::answers;

namespace {

struct NodeOf {
  std::int64_t total;
  std::int64_t used;
  std::int64_t held = 0;
  const char* closed = "";
  GpuPieces::Kind kind = GpuPieces::Kind::kWhole;
};

std::vector<GpuNode> nodes_of(const std::vector<NodeOf>& wanted) {
  std::vector<GpuNode> nodes;
  for (const NodeOf& each : wanted) {
    GpuNode& node = nodes.emplace_back();
    node.node = "n" + std::to_string(nodes.size());
    node.type = "L4";
    node.closed = each.closed;
    GpuPieces& pieces = node.pieces.emplace_back();
    pieces.kind = each.kind;
    pieces.total = each.total;
    pieces.used = each.used;
    pieces.held = each.held;
  }
  return nodes;
}

TypeRow row_of(const std::vector<NodeOf>& nodes) {
  const Overview overview = overview_of(nodes_of(nodes), {}, {});
  REQUIRE(overview.types.size() == 1);
  return overview.types.front();
}

}  // namespace

TEST_CASE("GPUs are summed by kind, and what is free only on nodes that are open") {
  using Kind = GpuPieces::Kind;
  const Overview overview = overview_of(nodes_of({{8, 3, 1},
                                                  {8, 5, 0, "cordoned"},
                                                  {4, 1, 0, "", Kind::kInstance},
                                                  {6, 2, 0, "", Kind::kReplica}}),
                                        {}, {});
  CHECK(overview.gpus == Pieces{.total = 16, .used = 8, .held = 1, .free = 4});
  CHECK(overview.instances == Pieces{.total = 4, .used = 1, .held = 0, .free = 3});
  CHECK(overview.replicas == Pieces{.total = 6, .used = 2, .held = 0, .free = 4});
  REQUIRE(overview.closed.size() == 1);
  CHECK(overview.closed[0].node == "n2");
  CHECK(overview.closed[0].why == "cordoned");
  CHECK(overview.closed[0].pieces == 8);
}

TEST_CASE("of the nodes of a type the first with the largest block is named") {
  const TypeRow row = row_of({{8, 6}, {8, 4}, {8, 4}, {8, 0, 0, "cordoned"}});
  CHECK(row.nodes == 4);
  CHECK(row.largest_block == 4);
  CHECK(row.largest_on == "n2");
  CHECK(row.whole_nodes_free == 0);
  CHECK(row_of({{8, 8}}).largest_on.empty());
}

TEST_CASE("a node is free as a whole if it has GPUs, and none is used or held") {
  CHECK(row_of({{8, 0}, {1, 0}}).whole_nodes_free == 2);
  CHECK(row_of({{8, 1}}).whole_nodes_free == 0);
  CHECK(row_of({{8, 0, 1}}).whole_nodes_free == 0);
  CHECK(row_of({{0, 0}}).whole_nodes_free == 0);
  CHECK(row_of({{8, 0, 0, "cordoned"}}).whole_nodes_free == 0);
}

TEST_CASE("pods that wait are counted, and among them those that have gates or can never start") {
  std::vector<PodInLine> line(4);
  line[0].gpus = 3;
  line[0].instances = 2;
  line[1].gpus = 1;
  line[1].place = PodInLine::Place::kGated;
  line[2].never = "asks for 99";
  const Overview overview = overview_of({}, line, {});
  CHECK(overview.waiting == Waiting{.pods = 4, .gpus = 4, .instances = 2, .gated = 1, .never = 1});
}
