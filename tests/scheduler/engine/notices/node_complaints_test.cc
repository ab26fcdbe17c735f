#include "scheduler/engine/notices/node_complaints.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched;

namespace {

gpu::Inventory wrong(const std::string& how) {
  gpu::Inventory inventory;
  inventory.complaints = {how};
  return inventory;
}

gpu::Inventory with_product(const std::string& name) {
  gpu::Inventory inventory;
  inventory.product.name = name;
  inventory.gpus = 1;
  return inventory;
}

std::vector<std::string> told(NodeComplaints& complaints) {
  std::vector<std::string> texts;
  while (const auto each = complaints.next()) {
    texts.push_back(each->node + ": " + (each->complaints.empty() ? "" : each->complaints[0]));
  }
  return texts;
}

}  // namespace

TEST_CASE("a complaint is told when it is new, when it is another, and when it is over") {
  using Texts = std::vector<std::string>;
  NodeComplaints complaints;
  complaints.seen("n", wrong("a"));
  CHECK(told(complaints) == Texts{"n: a"});
  complaints.seen("n", wrong("a"));
  CHECK(told(complaints).empty());
  complaints.seen("n", wrong("b"));
  complaints.seen("m", {});
  CHECK(told(complaints) == Texts{"n: b"});
  complaints.seen("n", {});
  CHECK(told(complaints) == Texts{"n: "});
  complaints.gone("n");
  CHECK(told(complaints).empty());
}

TEST_CASE("a product that is not known is told of once, with the first node that has it") {
  NodeComplaints complaints;
  complaints.seen("a", with_product("NVIDIA-NEW"));
  complaints.seen("b", with_product("NVIDIA-NEW"));
  complaints.seen("c", with_product(""));
  gpu::Inventory without_gpus = with_product("NVIDIA-OTHER");
  without_gpus.gpus = 0;
  complaints.seen("d", without_gpus);
  const auto told_of = complaints.next();
  REQUIRE(told_of);
  CHECK(told_of->node == "a");
  CHECK_FALSE(told_of->lasts);
  CHECK(told_of->complaints ==
        std::vector<std::string>{
            "GPUs of product NVIDIA-NEW are not known: they work as plain extended resources, and "
            "their memory, compute capability and MIG profiles are what labels say"});
  CHECK_FALSE(complaints.next());
}

TEST_CASE("of products that are not known a thousand are told of") {
  NodeComplaints complaints;
  for (int i = 0; i < 1'002; ++i) {
    complaints.seen("n" + std::to_string(i), with_product("P" + std::to_string(i)));
  }
  CHECK(told(complaints).size() == 1'000);
  complaints.seen("again", with_product("P0"));
  complaints.seen("again", with_product("P1001"));
  CHECK_FALSE(complaints.next());
}

TEST_CASE("what is not reported yet is kept as it is now, and no more of it") {
  using Texts = std::vector<std::string>;
  NodeComplaints complaints;
  complaints.seen("stays", wrong("x"));
  REQUIRE(told(complaints) == Texts{"stays: x"});
  for (int i = 0; i < 10'000; ++i) {
    const std::string node = "n" + std::to_string(i);
    complaints.seen(node, wrong("a"));
    complaints.seen(node, wrong("b"));
    if (i < 9'998) complaints.gone(node);
    complaints.seen("stays", wrong(std::to_string(i)));
  }
  complaints.gone("stays");
  CHECK(told(complaints) == Texts{"n9998: b", "n9999: b", "stays: "});
}
