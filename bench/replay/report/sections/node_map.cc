#include "bench/replay/report/page/text.h"
#include "bench/replay/report/page/words.h"
#include "bench/replay/report/sections/sections.h"

#include <fmt/core.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace bench::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";

std::string product_of(const k8s::Node& node) {
  const std::string* product = node.metadata.labels.find(kProductLabel);
  return product == nullptr ? "" : *product;
}

// How many GPUs each of so many nodes has at that moment: in a recording nodes come and go, those
// that come later are not in the snapshot, and none has GPUs while its device plugin restarts.
Json counts_of(const Snapshot& snapshot, std::size_t nodes) {
  Json counts = Json::array();
  for (std::size_t i = 0; i < nodes; ++i) {
    counts.push_back(i < snapshot.nodes.size() ? snapshot.nodes[i].devices.size() : 0);
  }
  return counts;
}

// {"models": […], "names": […], "model": [index per node], "gpus": [count per node]}; `gpus` of
// that snapshot. Others that differ have their own.
Json cluster_json(const Trace& trace, const Snapshot& snapshot) {
  std::map<std::string, std::size_t> models;
  for (const k8s::Node& node : trace.nodes) models.emplace(page::model_words(product_of(node)), 0);
  Json json{{"models", Json::array()},
            {"names", Json::array()},
            {"model", Json::array()},
            {"gpus", counts_of(snapshot, trace.nodes.size())}};
  for (auto& [model, index] : models) {
    index = json["models"].size();
    json["models"].push_back(model);
  }
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    json["names"].push_back(trace.nodes[i].metadata.name);
    json["model"].push_back(models.at(page::model_words(product_of(trace.nodes[i]))));
  }
  return json;
}

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

// Thousandths as two digits to the base of 36.
std::string two_digits(std::size_t thousandths) {
  return {kDigits[thousandths / kDigits.size()], kDigits[thousandths % kDigits.size()]};
}

// GPUs one after the other: "." free, "#" full, with a capital if there are 2 (A) to 27 (Z) in a
// row; two digits for a GPU of which a part is taken.
std::string packed_devices(const Snapshot& snapshot) {
  constexpr std::size_t kLongestRun = 27;
  std::string packed;
  char run_of = 0;
  std::size_t run = 0;
  const auto end_run = [&] {
    if (run > 0) packed += run_of;
    if (run > 1) packed += static_cast<char>('A' + (run - 2));
    run = 0;
  };
  for (const Snapshot::NodeState& node : snapshot.nodes) {
    for (const std::int32_t taken : node.devices) {
      if (taken > 0 && taken < 1000) {
        end_run();
        packed += two_digits(static_cast<std::size_t>(taken));
        continue;
      }
      const char kind = taken <= 0 ? '.' : '#';
      if (kind != run_of || run == kLongestRun) end_run();
      run_of = kind;
      ++run;
    }
  }
  end_run();
  return packed;
}

// Two digits for each node: the taken thousandths of its CPU.
std::string packed_cpu(const Snapshot& snapshot) {
  std::string packed;
  for (const Snapshot::NodeState& node : snapshot.nodes) {
    const double share = std::clamp(node.cpu, 0.0, 1.0);
    packed += two_digits(static_cast<std::size_t>(std::lround(share * 1000)));
  }
  return packed;
}

// With "counts", how many GPUs each node has, where it is not as in `first`.
Json snapshot_json(const Snapshot& snapshot, const Snapshot& first, std::size_t nodes) {
  Json json = {
      {"title", snapshot.title}, {"gpus", packed_devices(snapshot)}, {"cpu", packed_cpu(snapshot)}};
  if (Json counts = counts_of(snapshot, nodes); counts != counts_of(first, nodes)) {
    json["counts"] = std::move(counts);
  }
  return json;
}

bool fits(const Snapshot& snapshot, const Comparison& comparison) {
  return comparison.source != nullptr && !snapshot.nodes.empty() &&
         snapshot.nodes.size() <= comparison.source->nodes.size();
}

const Snapshot* first_snapshot(const Comparison& comparison) {
  for (const PolicyRuns& policy : comparison.policies) {
    for (const Snapshot& snapshot : policy.runs.front()->snapshots) {
      if (fits(snapshot, comparison)) return &snapshot;
    }
  }
  return nullptr;
}

// The snapshots of each policy's first run; if not all fit into `left`, the last moments are kept
// first.
struct Maps {
  Json policies = Json::array();
  std::size_t left_out = 0;
};

Maps maps_of(const Comparison& comparison, const Snapshot& first, std::size_t& left) {
  Maps maps;
  std::size_t most = 0;
  for (const PolicyRuns& policy : comparison.policies) {
    maps.policies.push_back({{"name", page::policy_words(policy.name)},
                             {"seed", policy.runs.front()->seed},
                             {"moments", Json::array()}});
    most = std::max(most, policy.runs.front()->snapshots.size());
  }
  for (std::size_t back = 1; back <= most; ++back) {
    for (std::size_t i = 0; i < comparison.policies.size(); ++i) {
      const std::vector<Snapshot>& snapshots = comparison.policies[i].runs.front()->snapshots;
      if (back > snapshots.size()) continue;
      const Snapshot& snapshot = snapshots[snapshots.size() - back];
      if (!fits(snapshot, comparison)) continue;
      Json json = snapshot_json(snapshot, first, comparison.source->nodes.size());
      const std::size_t size = page::json_text(json).size();
      if (size > left) {
        ++maps.left_out;
        continue;
      }
      left -= size;
      Json& moments = maps.policies[i]["moments"];
      moments.insert(moments.begin(), std::move(json));
    }
  }
  return maps;
}

constexpr std::string_view kLegend =
    "<p class=\"legend\"><span><i class=\"cell\"></i> a free GPU</span><span><i class=\"cell "
    "part\" "
    "style=\"--v:40\"></i> a part of it is taken</span><span><i class=\"cell used\"></i> "
    "taken</span>"
    "<span><i class=\"cpu\" style=\"--v:60\"></i> how much of the node's CPU is taken</span></p>\n";

struct Taken {
  std::size_t free = 0;
  std::size_t shared = 0;
  std::size_t full = 0;
};

std::map<std::string, Taken> taken_by_model(const Comparison& comparison,
                                            const Snapshot& snapshot) {
  std::map<std::string, Taken> by_model;
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
    if (snapshot.nodes[i].devices.empty()) continue;
    Taken& taken = by_model[product_of(comparison.source->nodes[i])];
    for (const std::int32_t device : snapshot.nodes[i].devices) {
      ++(device <= 0 ? taken.free : device >= 1000 ? taken.full : taken.shared);
    }
  }
  return by_model;
}

// The last moment of the map as figures, for readers who cannot see the map.
page::Table table_of_last(const Comparison& comparison) {
  page::Table table;
  table.caption = "GPUs at the last moment, first seed: free / partly taken / fully taken";
  table.columns = policy_columns("GPU model", comparison);
  std::map<std::string, std::vector<page::Cell>> rows;
  for (std::size_t i = 0; i < comparison.policies.size(); ++i) {
    const std::vector<Snapshot>& snapshots = comparison.policies[i].runs.front()->snapshots;
    if (snapshots.empty() || !fits(snapshots.back(), comparison)) continue;
    for (const auto& [model, taken] : taken_by_model(comparison, snapshots.back())) {
      std::vector<page::Cell>& row = rows[model];
      row.resize(comparison.policies.size() + 1, {"–"});
      row[0] = {model.empty() ? "no model" : page::escape(page::model_words(model))};
      row[i + 1] = {fmt::format("{} / {} / {}", page::count(taken.free), page::count(taken.shared),
                                page::count(taken.full))};
    }
  }
  for (auto& [model, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace

void NodeMaps::write(std::ostream& out, const Comparison& comparison) {
  const Snapshot* first = first_snapshot(comparison);
  if (first == nullptr) return;
  out << "<h3>Nodes and their GPUs</h3>\n";
  const std::string cluster = page::json_text(cluster_json(*comparison.source, *first));
  const auto [found, is_new] = clusters_.emplace(cluster, clusters_.size());
  if (is_new) {
    fmt::print(out, "<script type=\"application/json\" id=\"cluster{}\">{}</script>\n",
               found->second, cluster);
  }
  const Maps maps = maps_of(comparison, *first, left_);
  if (maps.left_out > 0) {
    fmt::print(out, "<p class=\"note\">{} maps are left out to keep this page small.</p>\n",
               maps.left_out);
  }
  out << kLegend;
  fmt::print(out,
             "<div class=\"maps\" data-cluster=\"cluster{}\"><script type=\"application/json\">"
             "{}</script></div>\n",
             found->second, page::json_text(maps.policies));
  page::write_folded_table(out, "The last moment as a table", table_of_last(comparison));
}

}  // namespace bench::replay
