#include "k8s-client/api/meta.h"

#include "tests/support/catch.h"

#include <string>
#include <vector>

namespace k8s {
namespace {

TEST_CASE("A StringMap is sorted and keeps the last of equal keys", "[meta]") {
  const StringMap map(std::vector<StringMap::Entry>{
      {"b", "1"}, {"a", "first"}, {"c", "3"}, {"a", "second"}, {"a", "third"}, {"b", "2"}});
  CHECK(map == StringMap{{"a", "third"}, {"b", "2"}, {"c", "3"}});
  std::string keys;
  for (const auto& [key, value] : map) keys += key;
  CHECK(keys == "abc");
  CHECK(StringMap(std::vector<StringMap::Entry>{}).empty());
  CHECK(StringMap{{"x", "1"}, {"x", "2"}} == StringMap{{"x", "2"}});
}

TEST_CASE("A StringMap finds, sets and erases", "[meta]") {
  StringMap map{{"b", "2"}};
  CHECK(map.find("a") == nullptr);
  CHECK(map.find("c") == nullptr);
  map.set("c", "3");
  map.set("a", "1");
  map.set("b", "two");
  CHECK(map == StringMap{{"a", "1"}, {"b", "two"}, {"c", "3"}});
  REQUIRE(map.find("b") != nullptr);
  CHECK(*map.find("b") == "two");
  map.erase("b");
  map.erase("absent");
  CHECK(map.size() == 2);
  CHECK(map.find("b") == nullptr);
}

}  // namespace
}  // namespace k8s
