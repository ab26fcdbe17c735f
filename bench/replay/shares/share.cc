#include "bench/replay/shares/share.h"

#include "bench/replay/shares/digest.h"
#include "k8s-client/json_text.h"
#include "k8s-client/parse_number.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace bench::replay {
namespace {

using ShareJson = nlohmann::ordered_json;

constexpr std::size_t kMostShares = 100'000;
constexpr std::string_view kGpuProduct = "nvidia.com/gpu.product";

ShareJson json_of(const Trace& trace) {
  ShareJson nodes = ShareJson::array();
  for (const k8s::Node& node : trace.nodes) {
    const std::string* product = node.metadata.labels.find(kGpuProduct);
    ShareJson& of = nodes.emplace_back(ShareJson::array({node.metadata.name}));
    if (product != nullptr) of.push_back(*product);
  }
  return {{"name", trace.name}, {"read", trace.counts}, {"nodes", std::move(nodes)}};
}

Trace trace_of_json(const ShareJson& json) {
  Trace trace;
  trace.name = json.at("name").get<std::string>();
  trace.counts = json.at("read").get<std::map<std::string, std::size_t>>();
  for (const ShareJson& of : json.at("nodes")) {
    k8s::Node& node = trace.nodes.emplace_back();
    node.metadata.name = of.at(0).get<std::string>();
    if (of.size() > 1) node.metadata.labels.set(kGpuProduct, of.at(1).get<std::string>());
  }
  return trace;
}

ShareJson json_of(const StudyOfShares& study) {
  ShareJson traces = ShareJson::array();
  for (const Trace& trace : study.traces) traces.push_back(json_of(trace));
  return {{"version", study.version},   {"program", study.program}, {"shares", study.shares},
          {"options", study.options},   {"inputs", study.inputs},   {"runs", study.runs},
          {"traces", std::move(traces)}};
}

// The first name whose value differs, or that only one has; empty: none.
std::string first_difference(const Words& some, const Words& others) {
  for (std::size_t i = 0; i < std::max(some.size(), others.size()); ++i) {
    if (i >= some.size()) return others[i].first;
    if (i >= others.size() || some[i] != others[i]) return some[i].first;
  }
  return {};
}

}  // namespace

std::string Share::text() const { return fmt::format("{}/{}", index, count); }

k8s::Result<Share> parse_share(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = k8s::parse_number<std::size_t>(text.substr(0, slash));
    const auto count = k8s::parse_number<std::size_t>(text.substr(slash + 1));
    if (index && count && *index < *count && *count <= kMostShares) return Share{*index, *count};
  }
  return k8s::config_error(fmt::format(
      "--share {}: expected INDEX/COUNT, the first of eight is 0/8, the last 7/8", text));
}

std::string StudyOfShares::digest() const { return sha256(k8s::json_text(json_of(*this))); }

std::string StudyOfShares::difference_to(const StudyOfShares& other) const {
  if (version != other.version) return fmt::format("version {}, not {}", version, other.version);
  if (program != other.program) return "another build of the program";
  if (shares != other.shares) return fmt::format("{} shares, not {}", shares, other.shares);
  if (const auto name = first_difference(options, other.options); !name.empty()) {
    return fmt::format("other options ({})", name);
  }
  if (const auto name = first_difference(inputs, other.inputs); !name.empty()) {
    return fmt::format("other contents of {}", name);
  }
  if (runs != other.runs) return "other runs";
  return digest() == other.digest() ? "" : "other traces";
}

std::string share_as_json(const StoredShare& share) {
  const ShareJson json{{"bench-replay-share", 1},
                       {"share", share.share.index},
                       {"command", share.command},
                       {"study", json_of(share.study)}};
  return k8s::json_text(json) + '\n';
}

k8s::Result<StoredShare> share_of_json(std::string_view text) {
  try {
    const auto json = ShareJson::parse(text);
    if (json.at("bench-replay-share") != 1) {
      return k8s::decode_error("is not a share of a study as this version writes it");
    }
    const ShareJson& of = json.at("study");
    StudyOfShares study{.version = of.at("version").get<std::string>(),
                        .program = of.at("program").get<std::string>(),
                        .shares = of.at("shares").get<std::size_t>(),
                        .options = of.at("options").get<Words>(),
                        .inputs = of.at("inputs").get<Words>(),
                        .runs = of.at("runs").get<std::vector<std::string>>(),
                        .traces = {}};
    for (const ShareJson& trace : of.at("traces")) study.traces.push_back(trace_of_json(trace));
    if (study.shares == 0) return k8s::decode_error("is a share of none");
    const Share share{json.at("share").get<std::size_t>(), study.shares};
    return StoredShare{share, json.at("command").get<std::string>(), std::move(study)};
  } catch (const ShareJson::exception& error) {
    return k8s::decode_error(fmt::format("is not a whole share of a study: {}", error.what()));
  }
}

}  // namespace bench::replay
