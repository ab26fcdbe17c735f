#include "scheduler/base/nearest_names.h"

#include "tests/support/catch.h"

using namespace sched;

TEST_CASE("Names are as far apart as there are slips between them") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("H100", "h100") == 0);
  CHECK(edit_distance("H10O", "H100") == 1);
  CHECK(edit_distance("shraing", "sharing") == 1);
  CHECK(edit_distance("hsaring", "sharing") == 1);
  CHECK(edit_distance("sharign", "sharing") == 1);
  CHECK(edit_distance("A100", "A10") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance(std::string(100'000, 'a'), "a") == 127);  // what is longer is cut off
}

TEST_CASE("The nearest name is the one that was meant") {
  CHECK(nearest_name("sharign", {"gpu-type", "sharing"}) == "sharing");
  CHECK_FALSE(nearest_name("sharing", {"gpu-type", "sharing"}));
  CHECK_FALSE(nearest_name("anything", {"gpu-type", "sharing"}));
  CHECK(nearest_names("H10O", {"A100", "L4", "H100", "H200"}, 2) ==
        std::vector<std::string>{"H100", "A100"});
}
