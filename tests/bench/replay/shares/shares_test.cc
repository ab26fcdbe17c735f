// A study whose runs are made in shares leaves, when they are merged, what one process would have
// left; and what was begun is continued.
#include "bench/replay/shares/merge.h"
#include "tests/bench/replay/small_replay.h"
#include "tests/support/catch.h"

#include <regex>
#include <set>

namespace fs = std::filesystem;
using bench::replay::ReplayOptions;
using tests::Ended;
using tests::Folder;
using tests::run_replay;

namespace {

// Without the seconds that runs took: no two runs share these.
std::string timeless(std::string text) {
  // In summary.json; in the page; in the table's last column, "CPU s/run".
  for (const char* seconds :
       {"\"seconds\": [0-9.e-]+", "<span class=\"took\">[^<]*</span>", "[0-9]+\\.[0-9]{2}\n"}) {
    text = std::regex_replace(text, std::regex(seconds), "S");
  }
  return text;
}

ReplayOptions study(const Folder& folder) {
  ReplayOptions options = tests::small_replay(folder);
  fs::copy_file(options.pods[0], folder.file("again.csv"), fs::copy_options::overwrite_existing);
  options.pods.push_back(folder.file("again.csv"));
  options.policies = {"default", "fgd", "best_fit"};
  options.command_line = "bench replay";
  return options;  // 2 traces × 3 policies × 2 seeds
}

Ended share(ReplayOptions options, const std::string& index, const std::string& out) {
  options.share = index;
  options.out = out;
  return run_replay(options);
}

Ended merge(const std::vector<std::string>& folders, const ReplayOptions& options = {}) {
  std::ostringstream out;
  std::ostringstream complaints;
  const int code = bench::replay::merge(folders, options, {out, complaints});
  return {code, out.str(), complaints.str()};
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

void replace_in(const std::string& file, const std::string& what, const std::string& by) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  std::ofstream(file, std::ios::binary) << text.replace(at, what.size(), by);
}

constexpr const char* kQuotas = R"(
apiVersion: gpu-scheduler.io/v1alpha1
kind: GpuQuota
metadata: {name: all}
spec:
  namespaces: [default]
  quotas: [{gpuType: "*", guaranteed: 6}]
)";

}  // namespace

TEST_CASE("shares that are merged give the bytes of one replay") {
  const Folder folder;
  ReplayOptions options = study(folder);
  const std::string arrival = GENERATE("inflate:130", "trace", "stationary:80", "quotas");
  INFO(arrival);
  options.arrival = arrival == "quotas" ? "trace" : arrival;
  if (arrival == "quotas") options.quotas = folder.write("quotas.yaml", kQuotas);
  options.fail_if = {"arrived_pods>1"};

  options.out = folder.file("once");
  const Ended once = run_replay(options);
  INFO(once.complaints);
  REQUIRE(once.code == 1);

  // Of five shares three have a folder in common, and each of the others has one of its own.
  ReplayOptions of_share = options;
  of_share.fail_if.clear();
  for (const char* index : {"3/5", "0/5", "4/5"}) {
    REQUIRE(share(of_share, index, folder.file("some")).code == 0);
  }
  REQUIRE(share(of_share, "1/5", folder.file("one")).code == 0);
  REQUIRE(share(of_share, "2/5", folder.file("two")).code == 0);
  ReplayOptions of_merge;
  of_merge.fail_if = options.fail_if;
  of_merge.out = folder.file("merged");
  const Ended merged =
      merge({folder.file("one"), folder.file("some"), folder.file("two")}, of_merge);
  CHECK(merged.complaints.empty());
  CHECK(merged.code == once.code);
  CHECK(timeless(merged.out) ==
        timeless(std::regex_replace(once.out, std::regex("/once/"), "/merged/")));

  const std::set<std::string> names = names_in(folder.file("once"));
  CHECK(names_in(folder.file("merged")) == names);
  CHECK(names.count("quotas.csv") == (arrival == "quotas" ? 1 : 0));
  for (const std::string& name : names) {
    INFO(name);
    CHECK(timeless(folder.read("merged/" + name)) == timeless(folder.read("once/" + name)));
  }
}

TEST_CASE("each share makes its part of the runs, and no other") {
  const Folder folder;
  const ReplayOptions options = study(folder);
  const Ended first = share(options, "1/5", folder.file("out"));
  CHECK(first.code == 0);
  CHECK_THAT(first.out,
             Catch::Contains("share 1/5: 3 of the study's 12 runs, 0 of them made before\n") &&
                 Catch::Contains("share 1/5 is complete in "));
  CHECK(names_in(folder.file("out")) ==
        std::set<std::string>{"run-1.json", "run-11.json", "run-6.json", "share-1-of-5.json"});
  CHECK_THAT(folder.read("out/share-1-of-5.json"),
             Catch::Contains("\"default on pods, seed 1\",\"default on pods, seed 2\""));
}

TEST_CASE("a share that was ended is continued with the run that was cut off") {
  const Folder folder;
  const ReplayOptions options = study(folder);
  const std::string out = folder.file("out");
  REQUIRE(share(options, "0/3", out).code == 0);
  const std::string kept = folder.read("out/run-0.json");
  // As a process that was killed, and a power failure, may leave it.
  fs::remove(folder.file("out/run-6.json"));
  folder.write("out/run-6.json.part", kept.substr(0, kept.size() / 2));
  fs::resize_file(folder.file("out/run-9.json"), 100);
  fs::resize_file(folder.file("out/share-0-of-3.json"), 0);

  const Ended again = share(options, "0/3", out);
  INFO(again.complaints);
  CHECK(again.code == 0);
  CHECK_THAT(again.out, Catch::Contains("4 of the study's 12 runs, 2 of them made before"));
  CHECK(folder.read("out/run-0.json") == kept);
  CHECK(names_in(out) == std::set<std::string>{"run-0.json", "run-3.json", "run-6.json",
                                               "run-9.json", "share-0-of-3.json"});
  REQUIRE(share(options, "1/3", out).code == 0);
  REQUIRE(share(options, "2/3", out).code == 0);
  CHECK(merge({out}).code == 0);
}

TEST_CASE("a share that is stopped stores no run that had not ended") {
  const Folder folder;
  ReplayOptions options = study(folder);
  options.share = "0/3";
  options.out = folder.file("out");
  const Ended stopped = run_replay(options, true);
  CHECK_THAT(stopped.complaints,
             Catch::Contains("interrupted: 4 runs of the share are left; the same command makes"));
  CHECK(names_in(options.out) == std::set<std::string>{"share-0-of-3.json"});
}

TEST_CASE("more shares than runs") {
  const Folder folder;
  ReplayOptions options = study(folder);
  options.pods.resize(1);
  options.policies = {"fgd"};
  for (const char* index : {"0/3", "1/3", "2/3"}) {
    REQUIRE(share(options, index, folder.file("out")).code == 0);
  }
  CHECK(merge({folder.file("out")}).code == 0);
}

TEST_CASE("a share is not begun where another study is, and nothing there is lost") {
  struct Case {
    const char* index;
    void (*change)(ReplayOptions&);
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"1/4", [](ReplayOptions&) {}, "share-0-of-3.json is of 3 shares, not 4"},
      {"1/3", [](ReplayOptions& o) { o.seeds = {"1..3"}; }, "is of other options (seeds)"},
      {"0/3", [](ReplayOptions& o) { o.until = "1h"; }, "is of other options (until)"},
      {"1/3", [](ReplayOptions& o) { o.snapshots = {10}; }, "other contents of --snapshots"},
      {"1/3", [](ReplayOptions& o) { std::ofstream(o.nodes, std::ios::app) << "n,1000,1024,0,\n"; },
       "other contents of --nodes"},
      {"3/3", [](ReplayOptions&) {}, "--share 3/3: expected INDEX/COUNT"},
  };
  for (const Case& c : cases) {
    INFO(c.complaint);
    const Folder folder;
    ReplayOptions options = study(folder);
    REQUIRE(share(options, "0/3", folder.file("out")).code == 0);
    const auto before = names_in(folder.file("out"));
    c.change(options);
    const Ended outcome = share(options, c.index, folder.file("out"));
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.complaints, Catch::StartsWith("replay: ") && Catch::Contains(c.complaint));
    CHECK(names_in(folder.file("out")) == before);
  }
}

TEST_CASE("what cannot be merged is said, and nothing is written") {
  struct Case {
    const char* name;
    void (*spoil)(const Folder&);
    const char* complaint;
  };
  const std::vector<Case> cases = {
      {"a share is missing",
       [](const Folder& f) {
         for (const char* file : {"share-1-of-3", "run-1", "run-4", "run-7", "run-10"}) {
           fs::remove(f.file("out/" + std::string(file) + ".json"));
         }
       },
       "4 of 12 runs are missing, the first is default on pods, seed 2; run again, or name the "
       "folders of: --share 1/3"},
      {"runs are missing",
       [](const Folder& f) {
         fs::remove(f.file("out/run-5.json"));
         fs::remove(f.file("out/run-9.json"));
       },
       "--share 0/3, 2/3"},
      {"a run was not ended",
       [](const Folder& f) { fs::rename(f.file("out/run-4.json"), f.file("out/run-4.json.part")); },
       "1 of 12 runs are missing"},
      {"a run is cut off", [](const Folder& f) { fs::resize_file(f.file("out/run-4.json"), 200); },
       "run-4.json: is not a whole run of a study"},
      {"a share is cut off",
       [](const Folder& f) { fs::resize_file(f.file("out/share-0-of-3.json"), 200); },
       "share-0-of-3.json: is not a whole share of a study"},
      {"another build",
       [](const Folder& f) {
         replace_in(f.file("out/share-2-of-3.json"), "\"program\":\"", "\"program\":\"0");
       },
       "share-2-of-3.json and"},
      {"another version",
       [](const Folder& f) {
         for (const char* file : {"share-0-of-3", "share-1-of-3", "share-2-of-3"}) {
           replace_in(f.file("out/" + std::string(file) + ".json"), "\"version\":\"",
                      "\"version\":\"9.");
         }
       },
       "the study was made by version 9."},
      {"a run of another study",
       [](const Folder& f) {
         replace_in(f.file("out/run-3.json"), "\"study\":\"", "\"study\":\"0");
       },
       "run-3.json is a run of another study"},
      {"a run that the study does not have",
       [](const Folder& f) { replace_in(f.file("out/run-3.json"), "\"run\":3", "\"run\":12"); },
       "run-3.json is a run of another study"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Folder folder;
    const ReplayOptions options = study(folder);
    for (const char* index : {"0/3", "1/3", "2/3"}) {
      REQUIRE(share(options, index, folder.file("out")).code == 0);
    }
    c.spoil(folder);
    ReplayOptions of_merge;
    of_merge.out = folder.file("merged");
    const Ended outcome = merge({folder.file("out")}, of_merge);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.complaints, Catch::StartsWith("replay: ") && Catch::Contains(c.complaint));
    CHECK(outcome.out.empty());
    CHECK_FALSE(fs::exists(folder.file("merged")));
  }
}

TEST_CASE("folders of different studies are not merged") {
  const Folder folder;
  ReplayOptions options = study(folder);
  REQUIRE(share(options, "0/2", folder.file("a")).code == 0);
  REQUIRE(share(options, "1/3", folder.file("b")).code == 0);
  CHECK_THAT(merge({folder.file("a"), folder.file("b")}).complaints,
             Catch::Contains("are of different studies: the first is of 3 shares, not 2"));
  fs::create_directories(folder.file("empty"));
  CHECK_THAT(merge({folder.file("a"), folder.file("empty")}).complaints,
             Catch::Contains("empty: no share of a study is in it"));
  CHECK_THAT(merge({folder.file("nowhere")}).complaints, Catch::Contains("No such file"));
  ReplayOptions wrong;
  wrong.fail_if = {"x>1"};
  CHECK_THAT(merge({folder.file("a")}, wrong).complaints, Catch::Contains("there is no figure"));
}
