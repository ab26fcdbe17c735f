// Nodes score by the images that they have.
#include "tests/scheduler/engine/domains_cluster.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

using namespace sched;
using namespace tests;

namespace {

struct OnNode {
  const char* node;
  const char* image;
  std::int64_t mib;
};

struct ImagesCluster : DomainsCluster {
  explicit ImagesCluster(const std::vector<OnNode>& images = {}) : DomainsCluster("ImageLocality") {
    for (const auto& [name, zone] : kZones) set_images(name, images);
  }
  void set_images(const std::string& name, const std::vector<OnNode>& images) {
    k8s::Node made = node(name).gpus(8).cpu("64");
    for (const OnNode& each : images) {
      if (name != each.node) continue;
      made.status.images.push_back(
          {.names = {"other/name@sha256:0", each.image}, .size_bytes = each.mib << 20});
    }
    has(made);
  }
};

k8s::Pod with_images(const std::vector<std::string>& images, const std::string& name = "p") {
  k8s::Pod pod = our_pod(name);
  const k8s::Container container = pod.spec.containers.at(0);
  pod.spec.containers.clear();
  for (const std::string& image : images) {
    pod.spec.containers.push_back(container);
    pod.spec.containers.back().image = image;
  }
  return pod;
}

std::vector<OnNode> on_all(const char* image, std::int64_t mib) {
  return {{"a1", image, mib},
          {"a2", image, mib},
          {"b1", image, mib},
          {"b2", image, mib},
          {"c0", image, mib}};
}

}  // namespace

TEST_CASE("how the images of nodes score") {
  struct Case {
    const char* name;
    std::vector<OnNode> images;
    k8s::Pod pod;
    const char* want;
  };
  k8s::Pod with_init = with_images({"r/a:1"});
  with_init.spec.init_containers = with_init.spec.containers;
  k8s::Pod with_volume = with_images({"r/b:1"});
  with_volume.spec.image_volumes = {"r/data"};
  const std::vector<Case> cases = {
      {"one of five has it: 200 MiB",
       {{"a1", "r/a:1", 1'000}},
       with_images({"r/a:1"}),
       "a1 18, a2 0, b1 0, b2 0, c0 0"},
      {"two of five",
       {{"a1", "r/a:1", 1'000}, {"c0", "r/a:1", 500}},
       with_images({"r/a:1"}),
       "a1 38, a2 0, b1 0, b2 0, c0 18"},
      {"all, and it is as large as counts", on_all("r/a:1", 1'000), with_images({"r/a:1"}),
       "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"larger does not count more", on_all("r/a:1", 90'000), with_images({"r/a:1"}),
       "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"nor does an impossible size", on_all("r/a:1", std::int64_t{1} << 42U),
       with_images({"r/a:1"}), "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"23 MiB and less is nothing", on_all("r/a:1", 23), with_images({"r/a:1"}), ""},
      {"of a larger pod more is wanted", on_all("r/a:1", 1'000), with_images({"r/a:1", "r/b:1"}),
       "a1 49, a2 49, b1 49, b2 49, c0 49"},
      {"an image twice counts twice", on_all("r/a:1", 1'000), with_images({"r/a:1", "r/a:1"}),
       "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"init containers count", on_all("r/a:1", 1'000), with_init,
       "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"a volume's image counts", on_all("r/data:latest", 500), with_volume,
       "a1 48, a2 48, b1 48, b2 48, c0 48"},
      {"no tag is the latest", on_all("r/a:latest", 1'000), with_images({"r/a"}),
       "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"a port is no tag", on_all("r:5000/a:latest", 1'000), with_images({"r:5000/a"}),
       "a1 100, a2 100, b1 100, b2 100, c0 100"},
      {"another tag is another image", on_all("r/a:2", 1'000), with_images({"r/a:1"}), ""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const ImagesCluster s(each.images);
    CHECK(s.scores(each.pod) == each.want);
  }
}

TEST_CASE("a pod goes where its image is, and pods that differ in nothing else go elsewhere") {
  ImagesCluster s({{"c0", "r/a:1", 5'000}, {"b1", "r/b:1", 5'000}});
  s.has(with_images({"r/a:1"}, "p"));
  s.has(with_images({"r/b:1"}, "q"));
  s.has(with_images({"r/a:1"}, "r"));
  CHECK(s.decide() == Texts{"p → c0", "q → b1", "r → c0"});
}

TEST_CASE("pods with the same images, in which one's is a volume's, are not scored as one") {
  ImagesCluster s(on_all("r/a:1", 1'000));
  const auto score_of = [&](const k8s::Pod& pod) {
    s.has(pod);
    const auto decided = s.decisions();
    REQUIRE(decided.size() == 1);
    for (const PluginScore& score : std::get<decision::Bind>(decided.front()).scores) {
      if (score.plugin == "ImageLocality") return score.score;
    }
    return std::int64_t{-1};
  };
  // They ask for the same in sum.
  k8s::Pod two = with_images({"r/a:1", "r/b:1"}, "two");
  for (k8s::Container& each : two.spec.containers) {
    each.requests = resources({{"cpu", "1"}, {"memory", "1Gi"}});
  }
  k8s::Pod one = with_images({"r/a:1"}, "one");
  one.spec.containers.front().requests = resources({{"cpu", "2"}, {"memory", "2Gi"}});
  one.spec.image_volumes = {"r/b:1"};
  CHECK(score_of(two) == 49);
  CHECK(score_of(one) == 100);
}

TEST_CASE("an image that another node gets counts for the next pod of the same kind") {
  ImagesCluster s({{"a1", "r/a:1", 1'000}});
  s.has(with_images({"r/a:1"}, "p"));
  CHECK(s.decide() == Texts{"p → a1"});
  s.set_images("c0", {{"c0", "r/a:1", 5'000}});
  s.has(with_images({"r/a:1"}, "q"));
  CHECK(s.decide() == Texts{"q → c0"});
}

TEST_CASE("images come and go") {
  ImagesCluster s({{"a1", "r/a:1", 1'000}});
  CHECK(s.scores(with_images({"r/a:1"})) == "a1 18, a2 0, b1 0, b2 0, c0 0");
  s.set_images("b2", {{"b2", "r/a:1", 1'000}});
  CHECK(s.scores(with_images({"r/a:1"})) == "a1 38, a2 0, b1 0, b2 38, c0 0");
  s.has(with_images({"r/a:1"}, "p"));
  CHECK(s.decide() == Texts{"p → a1"});
  s.set_images("a1", {{"a1", "r/a:1", 100}});
  s.has(with_images({"r/a:1"}, "q"));
  CHECK(s.decide() == Texts{"q → b2"});
  s.set_images("a1", {});
  CHECK(s.scores(with_images({"r/a:1"})) == "a1 0, a2 0, b1 0, b2 18, c0 0");
  for (const char* name : {"a1", "a2", "c0"}) s.apply(event::NodeDeleted{name, ""});
  CHECK(s.scores(with_images({"r/a:1"})) == "b1 0, b2 48");
  s.apply(event::NodeDeleted{"b2", ""});
  CHECK(s.scores(with_images({"r/a:1"})).empty());
}
