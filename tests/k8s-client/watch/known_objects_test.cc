#include "k8s-client/watch/known_objects.h"

#include "tests/support/catch.h"

#include <algorithm>
#include <string>
#include <vector>

namespace k8s {
namespace {

std::vector<std::string> sweep(KnownObjects& known) {
  std::vector<std::string> gone;
  known.sweep([&gone](const ObjectKey& key) {
    gone.push_back(key.namespace_ + "/" + key.name + "/" + key.uid);
  });
  std::sort(gone.begin(), gone.end());
  return gone;
}

TEST_CASE("what a complete list does not show is swept", "[watch]") {
  KnownObjects known;
  known.see({"ml", "a", "1"});
  known.see({"ml", "b", "2"});
  known.see({"", "node-1", "3"});

  known.begin_list();
  known.see({"ml", "b", "2"});
  known.see({"web", "a", "4"});
  CHECK(sweep(known) == std::vector<std::string>{"/node-1/3", "ml/a/1"});
  CHECK(known.size() == 2);
  CHECK(sweep(known).empty());
}

TEST_CASE("what is gone comes in the order of its names, not of their hashes", "[watch]") {
  KnownObjects known;
  std::vector<std::string> names;
  for (int i = 100; i < 200; ++i) names.push_back("pod-" + std::to_string(i));
  for (auto name = names.rbegin(); name != names.rend(); ++name) known.see({"ml", *name, "1"});
  known.begin_list();
  std::vector<std::string> gone;
  known.sweep([&gone](const ObjectKey& key) { gone.push_back(key.name); });
  CHECK(gone == names);
}

TEST_CASE("a list begun anew forgets what the unfinished one had seen", "[watch]") {
  KnownObjects known;
  known.see({"ml", "a", "1"});
  known.begin_list();
  known.see({"ml", "a", "1"});
  known.begin_list();
  CHECK(sweep(known) == std::vector<std::string>{"ml/a/1"});
}

TEST_CASE("an object is its place and its uid", "[watch]") {
  KnownObjects known;
  known.see({"ml", "a", "1"});
  CHECK(known.uid_at({"ml", "a", "anything"}) == std::optional<std::string_view>("1"));
  CHECK(known.uid_at({"web", "a", "1"}) == std::nullopt);
  CHECK_FALSE(known.remove({"ml", "a", "2"}));
  CHECK_FALSE(known.remove({"", "a", "1"}));
  CHECK(known.remove({"ml", "a", "1"}));
  CHECK_FALSE(known.remove({"ml", "a", "1"}));
  CHECK(known.size() == 0);
}

}  // namespace
}  // namespace k8s
