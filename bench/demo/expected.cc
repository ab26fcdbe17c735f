#include "bench/demo/expected.h"

#include "k8s-client/yaml/object_reader.h"
#include "k8s-client/yaml/value.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace bench {

k8s::Result<std::vector<ExpectedPod>> load_expected(const std::string& file) {
  auto documents = k8s::yaml::parse_file(file);
  if (!documents) return tl::unexpected(documents.error());
  if (documents->size() != 1) return k8s::decode_error(file + ": want one document");
  std::vector<ExpectedPod> pods;
  k8s::yaml::ObjectReader reader(documents->front(), file);
  reader.objects("pods", [&](k8s::yaml::ObjectReader& entry) {
    ExpectedPod pod;
    pod.name = entry.string("name").value_or("");
    pod.node = entry.string("node").value_or("");
    pod.waits = entry.strings("waits");
    if (pod.name.empty()) entry.complain("name", "must be the name of a pod");
    if (pod.node.empty() == pod.waits.empty()) entry.complain("", "want either node or waits");
    pods.push_back(std::move(pod));
  });
  if (auto error = reader.finish()) return tl::unexpected(*error);
  return pods;
}

namespace {

std::optional<std::string> difference(const ExpectedPod& want, const Outcome& got) {
  if (want.node != got.node) {
    return fmt::format("{} is {} and should be {}", want.name,
                       got.waits() ? "waiting (" + got.message + ")" : "on " + got.node,
                       want.node.empty() ? "waiting" : "on " + want.node);
  }
  for (const std::string& text : want.waits) {
    if (got.message.find(text) == std::string::npos) {
      return fmt::format("{} waits with \"{}\", which lacks \"{}\"", want.name, got.message, text);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> differences(const std::vector<ExpectedPod>& expected,
                                     const std::vector<Outcome>& outcomes) {
  std::vector<std::string> found;
  for (const ExpectedPod& want : expected) {
    const auto got = std::find_if(outcomes.begin(), outcomes.end(),
                                  [&](const Outcome& o) { return o.pod == want.name; });
    if (got == outcomes.end()) {
      found.push_back(want.name + " was never decided");
    } else if (auto text = difference(want, *got)) {
      found.push_back(*text);
    }
  }
  for (const Outcome& got : outcomes) {
    const bool wanted = std::any_of(expected.begin(), expected.end(),
                                    [&](const ExpectedPod& e) { return e.name == got.pod; });
    if (!wanted) found.push_back(got.pod + " was not expected");
  }
  return found;
}

}  // namespace bench
