#include "bench/verdicts/verdicts.h"

#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Outcome run(std::vector<std::string> files, bool quiet = false) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = bench::verdicts::run({.files = std::move(files), .quiet = quiet}, out, err);
  return {code, out.str(), err.str()};
}

std::vector<std::string> files_in(const fs::path& folder, std::string_view extension) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(extension)) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::path(tests::scratch_dir()) / ("verdicts-" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string write_gzipped(const std::string& name, const std::string& text) const {
    const std::string file = (path_ / name).string();
    gzFile handle = gzopen(file.c_str(), "wb");
    gzwrite(handle, text.data(), static_cast<unsigned>(text.size()));
    gzclose(handle);
    return file;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

// A node with one GPU, and a pod that asks for as many as said.
std::string question(const std::string& gpus, const std::string& answer = "") {
  return R"({"id":"q","nodes":[{"metadata":{"name":"n"},"status":{"allocatable":)"
         R"({"nvidia.com/gpu":"1","pods":"9"}}}],"pod":{"metadata":{"name":"a"},"spec":)"
         R"({"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":")" +
         gpus + R"("}}}]}})" + answer + "}\n";
}

constexpr const char* kShort =
    R"({"id":"q","verdicts":{"n":{"code":"UnschedulableAndUnresolvable","plugin":)"
    R"("NodeResourcesFit","reasons":["Insufficient nvidia.com/gpu"]}},)"
    R"("message":"0/1 nodes are available: 1 Insufficient nvidia.com/gpu."})"
    "\n";
constexpr const char* kFitting = R"({"id":"q","verdicts":{"n":{"code":"Success"}}})"
                                 "\n";

}  // namespace

TEST_CASE("bench verdicts answers, a line for each case") {
  const Folder folder("answers");
  const Outcome outcome = run({folder.write("a.jsonl", question("2") + "\n" + question("1")),
                               folder.write_gzipped("b.jsonl.gz", question("2"))});
  CHECK(outcome.err.empty());
  CHECK(outcome.out == std::string(kShort) + kFitting + kShort);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("pods of a case all count, uid or not") {
  const Folder folder("uids");
  const std::string holder =
      R"({"metadata":{"name":"held"},"spec":{"nodeName":"n","containers":[{"name":"c",)"
      R"("resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})";
  const std::string idle =
      R"({"metadata":{"name":"idle"},"spec":{"nodeName":"n","containers":[{"name":"c"}]}})";
  const std::string pods = R"(,"pods":[)" + holder + "," + idle + "]";
  const auto outcome = run({folder.write("a.jsonl", question("1", pods))});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.find("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.") !=
        std::string::npos);
}

TEST_CASE("bench verdicts counts agreements, differences and cases left out") {
  const Folder folder("counts");
  const std::string file = folder.write(
      "a.jsonl",
      question("1", R"(,"verdicts":{"n":{"code":"Success"}})") +
          question("2", R"(,"verdicts":{"n":{"code":"Success"}})") +
          question(
              "2",
              R"(,"verdicts":{"n":{"code":"Unschedulable","plugin":"Other","reasons":["no"]}})"));
  const Outcome outcome = run({file}, true);
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out == R"({"agree":1,"differ":1,"leftOut":1,"missingPlugins":["Other"]})"
                       "\n");
  CHECK_THAT(outcome.err,
             Catch::StartsWith(file + ":2: q: n: given Success; ours "
                                      "UnschedulableAndUnresolvable by "
                                      "NodeResourcesFit: Insufficient nvidia.com/gpu"));
}

TEST_CASE("bench verdicts prints tables for people, with the same exit code") {
  const Folder folder("tables");
  const std::string file =
      folder.write("a.jsonl", question("1", R"(,"verdicts":{"n":{"code":"Success"}})") +
                                  question("2", R"(,"verdicts":{"n":{"code":"Success"}})"));
  std::ostringstream out;
  std::ostringstream err;
  CHECK(bench::verdicts::run({.files = {file}, .output = bench::Output::kTable}, out, err) == 1);
  CHECK(err.str().empty());
  CHECK_THAT(out.str(), Catch::StartsWith("q: 1 of 1 node fit\n  NODE  VERDICT") &&
                            Catch::Contains("\nq: 0 of 1 node fit - 0/1 nodes are available") &&
                            Catch::Contains("\n  Beside kube-scheduler: 0 agreements, 2 ") &&
                            Catch::EndsWith("\nCases beside kube-scheduler: 1 agree, 1 differ, 0 "
                                            "left out\n"));
}

TEST_CASE("bench verdicts says where a file is bad") {
  const Folder folder("bad");
  const std::string whole = folder.write_gzipped("whole.gz", question("1") + question("1"));
  std::ifstream packed(whole, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(packed)), {});
  struct Case {
    std::string file;
    std::string complaint;
  };
  const std::string second = folder.write("second.jsonl", question("1") + "{\n");
  const std::string cut = folder.write("cut.gz", bytes.substr(0, bytes.size() / 2));
  const std::vector<Case> cases = {
      {second, second + ":2: not a JSON object"},
      {cut, cut + ":"},
      {folder.path() + "/absent", folder.path() + "/absent: cannot open: No such file"},
      {folder.path(), folder.path() + ":1: cannot read: Is a directory"},
  };
  for (const Case& each : cases) {
    INFO(each.file);
    const Outcome outcome = run({each.file});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::StartsWith(each.complaint));
  }
}

TEST_CASE("a file without a case is no agreement") {
  const Folder folder("empty");
  for (const char* text : {"", "\n  \n"}) {
    const std::string file = folder.write("empty.jsonl", text);
    const Outcome outcome = run({file});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == file + ": no case in it\n");
  }
}

TEST_CASE("answers that could not be written are an error") {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  const auto files = files_in(tests::source_dir() + "/tests/bench/cases", ".jsonl");
  CHECK(bench::verdicts::run({.files = files, .quiet = false}, full, err) == 2);
  CHECK(err.str() == "verdicts: the answers could not be written\n");
}

TEST_CASE("kube-scheduler's answers to the sample of cases") {
  const Outcome outcome =
      run(files_in(fs::path(tests::source_dir()) / "tests/bench/cases", ".jsonl"), true);
  CHECK(outcome.err.empty());
  CHECK(outcome.out == R"({"agree":96,"differ":0,"leftOut":0,"missingPlugins":[]})"
                       "\n");
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("kube-scheduler's answers to all cases there are") {
  const char* set = std::getenv("GPU_SCHEDULER_SHARED");
  const fs::path shared =
      set != nullptr ? fs::path(set) : fs::path(tests::source_dir()) / "../shared";
  if (!fs::is_directory(shared / "oracle")) {
    // ctest looks for this text (SKIP_REGULAR_EXPRESSION).
    std::cout << "skipped: no folder oracle in " << shared
              << "; set GPU_SCHEDULER_SHARED to the folder that has it\n";
    return;
  }
  const std::vector<std::string> files = files_in(shared / "oracle", ".jsonl.gz");
  REQUIRE_FALSE(files.empty());
  const Outcome outcome = run(files, true);
  INFO(outcome.out);
  CHECK(outcome.err.empty());
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, !Catch::Contains("\"agree\":0,"));
}
