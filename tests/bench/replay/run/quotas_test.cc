// A file of GpuQuota objects: read whole, or refused with its place.
#include "bench/replay/run/quotas.h"

#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

// A file that lives as long as the object.
class File {
 public:
  explicit File(const std::string& text) : name_(tests::scratch_dir() + "/quotas.yaml") {
    std::ofstream(name_) << text;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::remove(name_.c_str()); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

constexpr const char* kTwo = R"(apiVersion: gpu-scheduler.io/v1alpha1
kind: GpuQuota
metadata: {name: vision}
spec:
  namespaces: [vision]
  cohort: research
  quotas:
  - {gpuType: H100, guaranteed: "8", limit: "16"}
---
apiVersion: gpu-scheduler.io/v1alpha1
kind: GpuQuota
metadata: {name: speech}
spec:
  namespaces: [speech]
  quotas:
  - {gpuType: "*", guaranteed: "500m"}
)";

}  // namespace

TEST_CASE("quotas are read in the order of the file, the earlier the older") {
  const File file(kTwo);
  const auto quotas = bench::replay::read_quotas(file.name());
  REQUIRE(quotas);
  REQUIRE(quotas->size() == 2);
  CHECK(quotas->at(0).metadata.name == "vision");
  CHECK(quotas->at(0).spec.quotas.at(0).limit == k8s::Quantity::of(16));
  CHECK(quotas->at(1).spec.quotas.at(0).guaranteed == k8s::Quantity::of_milli(500));
  CHECK(quotas->at(0).metadata.creation_timestamp < quotas->at(1).metadata.creation_timestamp);
}

TEST_CASE("what cannot be used is said with its place") {
  struct Case {
    std::string text;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"# none yet\n", ": there is no GpuQuota in it"},
      {"kind: Pod\nmetadata: {name: a}\n", ":1: want an object of kind GpuQuota"},
      {"kind: GpuQuota\n", ":1: GpuQuota: metadata.name: is missing"},
      {"kind: GpuQuota\nmetadata: {name: a}\nspec: {quotas: [{gpuType: L4, guaranteed: \"-1\"}]}\n",
       ":1: spec.quotas[0].guaranteed: must not be negative"},
      {"kind: GpuQuota\nmetadata: {name: a}\n---\nkind: GpuQuota\nmetadata: {name: a}\n",
       ":4: a second GpuQuota \"a\""},
      {"kind: GpuQuota\nmetadata: {name: a}\nspec: {parent: b, quotas: [{gpuType: L4, guaranteed: "
       "1}]}\n",
       ":1: spec.parent: there is no quota b"},
      // It would be read as 0.
      {"kind: GpuQuota\nmetadata: {name: a}\nspec:\n  quotas:\n  - {gpuType: L4, guarantee: 4}\n",
       ":5: spec.quotas[0].guarantee: unknown field; known here: gpuType, guaranteed, lendable, "
       "limit"},
      {"kind: GpuQuota\nmetadata: {name: a}\nspec: {cohorts: c}\n",
       ":3: spec.cohorts: unknown field; known here: cohort, maxGpusPerPod, namespaceSelector, "
       "namespaces, order, parent, quotas, weight, whenDeleted"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const File file(c.text);
    const auto quotas = bench::replay::read_quotas(file.name());
    REQUIRE_FALSE(quotas);
    CHECK(quotas.error().message == file.name() + c.want);
  }
}
