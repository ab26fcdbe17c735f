#include "scheduler/gpu/wishes.h"

#include "scheduler/quota/charged_as.h"
#include "tests/support/builders.h"
#include "tests/support/catch.h"

#include <string>
#include <vector>

using namespace sched::gpu;
using tests::pod;

namespace {

Wishes wishes_for(std::string_view key, std::string_view value) {
  return wishes_of(pod("p").gpus(1).annotated(key, value));
}

std::vector<std::string> types_of(const Wishes& wishes) {
  std::vector<std::string> texts;
  for (const TypeName& type : wishes.types) texts.push_back(type.text);
  return texts;
}

}  // namespace

TEST_CASE("A pod's annotations are read once, in their order") {
  CHECK(types_of(wishes_for(kTypeAnnotation, "H100, A100-80GB,NVIDIA-L4")) ==
        std::vector<std::string>{"H100", "A100-80GB", "NVIDIA-L4"});
  CHECK(types_of(wishes_for(kTypeAnnotation, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p")).size() == 16);
  CHECK(wishes_for(kMinMemoryAnnotation, "40Gi").min_memory == std::int64_t{40} << 30);
  CHECK(wishes_for(kMinMemoryAnnotation, "80G").min_memory == 80'000'000'000);
  CHECK(wishes_for(kMinMemoryAnnotation, "1Mi").min_memory == std::int64_t{1} << 20);
  CHECK(wishes_for(kGpuMemoryAnnotation, "10Gi").gpu_memory == std::int64_t{10} << 30);
  CHECK(to_string(wishes_for(kMinComputeAnnotation, "8.9").min_compute) == "8.9");
  CHECK(to_string(wishes_for(kMinComputeAnnotation, "9").min_compute) == "9.0");
  CHECK(to_string(wishes_for(kMinDriverAnnotation, "570.124.06").min_driver) == "570.124.6");
  CHECK(to_string(wishes_for(kMinDriverAnnotation, "570").min_driver) == "570.0");
  CHECK(to_string(wishes_for(kMinCudaAnnotation, "12.8").min_cuda) == "12.8");
  CHECK((wishes_for(kSharingAnnotation, "never").sharing == SharingWish::kNever));
  CHECK((wishes_for(kSharingAnnotation, "required").sharing == SharingWish::kRequired));
  CHECK((wishes_for(kSharingAnnotation, "allowed").sharing == SharingWish::kAllowed));
  CHECK(wishes_for(kMigProfileAnnotation, "1g.10gb+me").mig_profile == "1g.10gb.me");
  CHECK((wishes_of(pod("p").gpus(1)) == Wishes{}));
  // Other people's annotations, and ours that are no wishes.
  CHECK((wishes_for("example.com/gpu-type", "x") == Wishes{}));
  CHECK((wishes_for(sched::quota::kChargedAsAnnotation, "x") == Wishes{}));
  CHECK((wishes_for(sched::quota::kChargedAtAnnotation, "x") == Wishes{}));
}

TEST_CASE("What cannot be understood is a problem, with the annotation and what it could be") {
  struct Case {
    std::string_view key;
    const char* value;
    const char* problem;
  };
  const std::vector<Case> cases = {
      {kTypeAnnotation, "", "gpu-scheduler.io/gpu-type: \"\" has an item that names nothing"},
      {kTypeAnnotation, "H100,,L4", "\"H100,,L4\" has an item that names nothing"},
      {kTypeAnnotation, "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "more than 16 types"},
      {kTypeAnnotation, ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", "has an item that names nothing"},
      {kMinMemoryAnnotation, "40Gx", "\"40Gx\" is not an amount of memory, such as 40Gi"},
      {kMinMemoryAnnotation, "-1Gi", "\"-1Gi\" is not an amount of memory"},
      {kMinMemoryAnnotation, "0", "is not an amount of memory"},
      {kMinMemoryAnnotation, "", "is not an amount of memory"},
      {kMinMemoryAnnotation, "80", "\"80\" is 80 bytes: 80Gi or 80G?"},
      {kMinMemoryAnnotation, "81920", "\"81920\" is 81920 bytes: 81920Mi or 81920M?"},
      {kMinMemoryAnnotation, "999", "\"999\" is 999 bytes: 999Gi or 999G?"},
      {kMinMemoryAnnotation, "1000", "\"1000\" is 1000 bytes: 1000Mi or 1000M?"},
      {kMinMemoryAnnotation, "1048575", "\"1048575\" is 1048575 bytes: 1048575Mi or 1048575M?"},
      {kMinMemoryAnnotation, "1", "\"1\" is 1 bytes: 1Gi or 1G?"},
      {kMinMemoryAnnotation, "40Ki", "\"40Ki\" is 40960 bytes, less than any GPU has"},
      {kGpuMemoryAnnotation, "10", "\"10\" is 10 bytes: 10Gi or 10G?"},
      {kGpuMemoryAnnotation, "half", "\"half\" is not an amount of memory, such as 40Gi"},
      {kMinDriverAnnotation, "latest", "\"latest\" is not a version, such as \"570.86\""},
      {kMinDriverAnnotation, "570.", "\"570.\" is not a version"},
      {kMinDriverAnnotation, "570.124.06.1", "is not a version"},
      {kMinDriverAnnotation, "-570", "is not a version"},
      {kMinDriverAnnotation, "0.1", "is not a version"},
      {kMinDriverAnnotation, "570.-1", "is not a version"},
      {kMinDriverAnnotation, "570 ", "is not a version"},
      {kMinDriverAnnotation, "", "is not a version"},
      {kMinCudaAnnotation, "12,8", "\"12,8\" is not a version, such as \"12.8\""},
      {kMinComputeAnnotation, "8.", "\"8.\" is not a compute capability, such as \"8.0\""},
      {kMinComputeAnnotation, "ampere", "\"ampere\" is not a compute capability"},
      {kMinComputeAnnotation, "8.0.1", "is not a compute capability"},
      {kMinComputeAnnotation, "-8.0", "is not a compute capability"},
      {kMinComputeAnnotation, "0.5", "is not a compute capability"},
      {kMinComputeAnnotation, "8.-1", "is not a compute capability"},
      {kMinComputeAnnotation, "8,0", "is not a compute capability"},
      {kMinComputeAnnotation, "99999999999", "is not a compute capability"},
      {kSharingAnnotation, "sometimes", "\"sometimes\" is none of allowed, required, never"},
      {kSharingAnnotation, "Never", "\"Never\" is none of allowed, required, never"},
      {kMigProfileAnnotation, "1g", "\"1g\" is not a MIG profile, such as 1g.10gb"},
      {"gpu-scheduler.io/gpu-typ", "H100",
       "annotation gpu-scheduler.io/gpu-typ is not known; gpu-scheduler.io/gpu-type is"},
      {"gpu-scheduler.io/GPU-type", "H100", "gpu-scheduler.io/gpu-type is"},
      {"gpu-scheduler.io/min-gpu-mem", "1Gi",
       "annotation gpu-scheduler.io/min-gpu-mem is not known; the nearest is "
       "gpu-scheduler.io/min-gpu-memory"},
      {"gpu-scheduler.io/wall-clock", "x",
       "annotation gpu-scheduler.io/wall-clock is not known; the"},
      {"gpu-scheduler.io/pod-groups", "x",
       "annotation gpu-scheduler.io/pod-groups is not known; gpu-scheduler.io/pod-group is"},
      {"gpu-scheduler.io/", "x", "annotation gpu-scheduler.io/ is not known; the nearest is"},
      {"gpu-scheduler.io/shraing", "never", "gpu-scheduler.io/sharing is"},
  };
  for (const Case& each : cases) {
    INFO(each.key << ": " << each.value);
    const Wishes wishes = wishes_for(each.key, each.value);
    REQUIRE(wishes.problems.size() == 1);
    CHECK_THAT(wishes.problems.front().text, Catch::Contains(each.problem));
  }
}

TEST_CASE("A label of ours that nobody reads is a problem, too") {
  const auto problem = [](std::string_view key, std::string_view value) {
    const Wishes wishes = wishes_of(pod("p").gpus(1).labelled(key, value));
    return wishes.problems.empty() ? std::string() : wishes.problems.front().text;
  };
  CHECK(problem(kMigProfileAnnotation, "1g.10gb").empty());
  CHECK(problem("example.com/gpu-type", "H100").empty());
  CHECK(problem("gpu-scheduler.io/mig-profil", "1g.10gb") ==
        "label gpu-scheduler.io/mig-profil is not known; gpu-scheduler.io/mig-profile is");
  CHECK(problem(kTypeAnnotation, "H100") ==
        "gpu-scheduler.io/gpu-type is an annotation, not a label");
  CHECK(problem(kPodGroupAnnotation, "g") ==
        "gpu-scheduler.io/pod-group is an annotation, not a label");
}

TEST_CASE("A problem is of the annotation that was meant") {
  const auto by_annotation = [](std::string_view key, std::string_view value) {
    return wishes_for(key, value).problems.at(0).key;
  };
  const auto by_label = [](std::string_view key) {
    return wishes_of(pod("p").gpus(1).labelled(key, "x")).problems.at(0).key;
  };
  CHECK(by_annotation(kMinCudaAnnotation, "x") == kMinCudaAnnotation);
  CHECK(by_annotation(kMinDriverAnnotation, "x") == kMinDriverAnnotation);
  CHECK(by_annotation(kGpuMemoryAnnotation, "x") == kGpuMemoryAnnotation);
  CHECK(by_annotation("gpu-scheduler.io/shraing", "never") == kSharingAnnotation);
  CHECK(by_annotation("gpu-scheduler.io/gpu-memry", "1Gi") == kGpuMemoryAnnotation);
  CHECK(by_label(kSharingAnnotation) == kSharingAnnotation);
  CHECK(by_label(kPodGroupAnnotation) == kTypeAnnotation);
  CHECK(by_label("gpu-scheduler.io/min-cuda-vershun") == kMinCudaAnnotation);
}

TEST_CASE("A pod knows of MIG instances as nvidia.com/gpu when it names their profile") {
  struct Case {
    const char* name;
    k8s::Pod given;
    bool knows;  // 1g.5gb
  };
  const k8s::Pod annotated = pod("p").gpus(1).annotated(kMigProfileAnnotation, "1g.5gb");
  const k8s::Pod typed =
      pod("p").gpus(1).annotated(kTypeAnnotation, "H100,NVIDIA-A100-SXM4-40GB-MIG-1g.5gb");
  const std::vector<Case> cases = {
      {"not at all", pod("p").gpus(1), false},
      {"by annotation", annotated, true},
      {"by label", pod("p").gpus(1).labelled(kMigProfileAnnotation, "1g.5gb"), true},
      {"another one", pod("p").gpus(1).labelled(kMigProfileAnnotation, "1g.10gb"), false},
      {"by GKE's selector",
       pod("p").gpus(1).selects("cloud.google.com/gke-gpu-partition-size", "1g.5gb"), true},
      {"by the product's label",
       pod("p").gpus(1).selects("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
       true},
      {"by a required affinity",
       pod("p").gpus(1).requires_nodes({tests::term(
           {tests::label("nvidia.com/gpu.product").in({"x", "NVIDIA-A30-MIG-1g.5gb"})})}),
       true},
      {"by a type", typed, true},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(names_profile(wishes_of(each.given), "1g.5gb") == each.knows);
  }
  CHECK(wishes_of(annotated).mig_profile == "1g.5gb");
  CHECK(wishes_of(typed).mig_profile.empty());

  const k8s::Pod torn = pod("p")
                            .gpus(1)
                            .labelled(kMigProfileAnnotation, "1g.10gb")
                            .annotated(kMigProfileAnnotation, "1g.5gb");
  REQUIRE(wishes_of(torn).problems.size() == 1);
  CHECK_THAT(wishes_of(torn).problems.front().text, Catch::Contains("different profiles"));
}

TEST_CASE("only entries of ours make the entries differ") {
  const k8s::StringMap none;
  const k8s::StringMap other{{"example.com/seen", "yes"}, {"z", ""}};
  const k8s::StringMap never{{"example.com/seen", "no"},
                             {std::string(kSharingAnnotation), "never"}};
  const k8s::StringMap allowed{{std::string(kSharingAnnotation), "allowed"}};
  const k8s::StringMap more{{std::string(kSharingAnnotation), "never"},
                            {std::string(kTypeAnnotation), "H100"}};
  CHECK(same_of_ours(none, other));
  CHECK_FALSE(same_of_ours(none, never));
  CHECK_FALSE(same_of_ours(allowed, never));
  CHECK_FALSE(same_of_ours(never, more));
  CHECK(same_of_ours(never, {{"a", "b"}, {std::string(kSharingAnnotation), "never"}}));
}

TEST_CASE("what is made up by the hundred is not read to the end, nor repeated in full") {
  auto many = pod("p").gpus(1);
  for (int i = 0; i < 1'000; ++i) {
    many.annotated("gpu-scheduler.io/gpu-typ" + std::to_string(i), "x");
  }
  CHECK(wishes_of(many).problems.size() == 16);

  std::string text(127, 'x');
  for (int i = 0; i < 1'000; ++i) text += "ä";
  const Wishes wishes = wishes_for(kMinComputeAnnotation, text);
  REQUIRE(wishes.problems.size() == 1);
  CHECK(wishes.problems[0].text == "gpu-scheduler.io/min-compute-capability: \"" +
                                       std::string(127, 'x') +
                                       "…\" is not a compute capability, such as \"8.0\"");
}

TEST_CASE("a wish that is longer than any that means something is a problem, and is not read") {
  const std::string types(Wishes::kMostTypeBytes + 1, 'a');
  const Wishes typed = wishes_for(kTypeAnnotation, types);
  REQUIRE(typed.problems.size() == 1);
  CHECK(typed.problems[0].text == "gpu-scheduler.io/gpu-type: longer than 1024 bytes");
  CHECK(typed.types.empty());
  CHECK(wishes_for(kTypeAnnotation, types.substr(1)).problems.empty());

  const std::string profile = "1g.5gb." + std::string(100, 'a');
  CHECK(wishes_for(kMigProfileAnnotation, profile).problems.size() == 1);
}

TEST_CASE("a profile that a pod names again and again is known once") {
  const k8s::Pod given = pod("p").gpus(1).requires_nodes(
      {tests::term({tests::label("cloud.google.com/gke-gpu-partition-size")
                        .in({"2g.10gb", "1g.5gb", "2g.10gb"})})});
  CHECK(wishes_of(given).known_profiles == std::vector<std::string>{"1g.5gb", "2g.10gb"});
}
