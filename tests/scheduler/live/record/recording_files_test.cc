// Recordings as files: for their owner alone, and the last few.
#include "scheduler/live/record/recording_files.h"

#include "tests/support/catch.h"
#include "tests/support/paths.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace {

using sched::Time;
using sched::live::RecordingFiles;
using sched::live::RecordingParts;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Time kBegin{std::chrono::seconds(1'767'225'600)};

std::string folder() {
  const std::string path = tests::scratch_dir() + "/recordings";
  fs::remove_all(path);
  fs::create_directory(path);
  return path;
}

RecordingParts parts() {
  return {std::make_shared<const std::string>("a"), std::make_shared<const std::string>("bc")};
}

std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("a file is named after its time, and for its owner alone") {
  const std::string path = folder();
  const auto files = RecordingFiles::in(path);
  REQUIRE(files);
  const auto file = files->write(parts(), kBegin + 1ms);
  REQUIRE(file);
  CHECK(*file == path + "/gpu-scheduler-20260101T000000Z.jsonl.gz");
  std::ifstream stream(*file);
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == "abc");
  struct stat found {};
  REQUIRE(stat(file->c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  CHECK(names_in(path).size() == 1);
}

TEST_CASE("the oldest files go, those of other names stay") {
  const std::string path = folder();
  const std::set<std::string> kept = {"gpu-scheduler-20251231T000000Z-incident.jsonl.gz",
                                      "gpu-scheduler-before.jsonl.gz", "notes.txt"};
  for (const std::string& name : kept) std::ofstream(path + "/" + name) << "mine";
  const auto files = RecordingFiles::in(path);
  REQUIRE(files);
  for (int i = 0; i < 7; ++i) REQUIRE(files->write(parts(), kBegin + i * 1s));
  std::set<std::string> wanted = {
      "gpu-scheduler-20260101T000003Z.jsonl.gz", "gpu-scheduler-20260101T000004Z.jsonl.gz",
      "gpu-scheduler-20260101T000005Z.jsonl.gz", "gpu-scheduler-20260101T000006Z.jsonl.gz"};
  wanted.insert(kept.begin(), kept.end());
  CHECK(names_in(path) == wanted);
}

TEST_CASE("the file that was just written stays, also if the clock was set back") {
  const std::string path = folder();
  const auto files = RecordingFiles::in(path);
  REQUIRE(files);
  for (int i = 0; i < 4; ++i) REQUIRE(files->write(parts(), kBegin + 1h + i * 1s));
  REQUIRE(files->write(parts(), kBegin));
  CHECK(names_in(path) == std::set<std::string>{"gpu-scheduler-20260101T000000Z.jsonl.gz",
                                                "gpu-scheduler-20260101T010001Z.jsonl.gz",
                                                "gpu-scheduler-20260101T010002Z.jsonl.gz",
                                                "gpu-scheduler-20260101T010003Z.jsonl.gz"});
}

TEST_CASE("a link that stands where the file is to be written is not followed") {
  const std::string path = folder();
  const std::string elsewhere = path + "/elsewhere";
  std::ofstream(elsewhere) << "precious";
  fs::create_symlink(elsewhere, path + "/gpu-scheduler-20260101T000000Z.jsonl.gz.part");
  const auto files = RecordingFiles::in(path);
  REQUIRE(files);
  REQUIRE(files->write(parts(), kBegin));
  std::ifstream stream(elsewhere);
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == "precious");
}

TEST_CASE("where nothing can be written it is said why") {
  const auto nowhere = RecordingFiles::in("/no/such/folder");
  REQUIRE_FALSE(nowhere);
  CHECK_THAT(nowhere.error().message, Catch::Contains("/no/such/folder: is no folder"));
  const std::string path = folder();
  const auto files = RecordingFiles::in(path);
  REQUIRE(files);
  fs::remove_all(path);
  const auto written = files->write(parts(), kBegin);
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().message, Catch::Contains("No such file or directory"));
}
