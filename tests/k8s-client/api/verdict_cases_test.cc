// Objects that real API machinery wrote: every one must decode, and survive encoding. A quarter of
// the cases is tried, or all of them (tests/support/full.h).
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/support/catch.h"
#include "tests/support/full.h"
#include "tests/support/paths.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace k8s {
namespace {

using Json = nlohmann::json;

std::filesystem::path cases_folder() {
  const char* shared = std::getenv("GPU_SCHEDULER_SHARED");
  const std::filesystem::path base =
      shared != nullptr ? shared : std::filesystem::path(tests::source_dir()) / ".." / "shared";
  return base / "oracle" / "kube-scheduler-1.36.3";
}

std::string decompressed(const std::filesystem::path& file) {
  const std::string command = "gzip -dc '" + file.string() + "'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string text;
  std::array<char, 65536> buffer;
  while (const auto count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), count);
  }
  return text;
}

template <typename T>
std::size_t check_objects(Decoder& decoder, const Json& objects) {
  for (const auto& json : objects) {
    const auto object = decoder.object<T>(json.dump());
    if (!object) FAIL(object.error().message);
    CHECK(decoder.object<T>(encode(*object)).value() == *object);
  }
  return objects.size();
}

std::size_t check_case(Decoder& decoder, const Json& one) {
  return check_objects<Pod>(decoder, Json::array({one.at("pod")})) +
         check_objects<Pod>(decoder, one.value("pods", Json::array())) +
         check_objects<Node>(decoder, one.value("nodes", Json::array())) +
         check_objects<Namespace>(decoder, one.value("namespaces", Json::array())) +
         check_objects<PersistentVolume>(decoder, one.value("persistentVolumes", Json::array())) +
         check_objects<PersistentVolumeClaim>(decoder,
                                              one.value("persistentVolumeClaims", Json::array())) +
         check_objects<StorageClass>(decoder, one.value("storageClasses", Json::array())) +
         check_objects<CsiNode>(decoder, one.value("csiNodes", Json::array()));
}

TEST_CASE("All objects of the verdict cases decode", "[decode]") {
  const auto folder = cases_folder();
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: no verdict cases in " << folder << "; GPU_SCHEDULER_SHARED says where they are");
    return;
  }
  Decoder decoder;
  std::size_t objects = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".gz") continue;
    const std::string text = decompressed(entry.path());
    for (std::size_t at = 0, line = 0; at < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (line % tests::every(4) == 0) {
        objects += check_case(decoder, Json::parse(text.substr(at, end - at)));
      }
      at = end + 1;
    }
  }
  CHECK(objects > 1000);
}

}  // namespace
}  // namespace k8s
