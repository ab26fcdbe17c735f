#include "bench/verdicts/show.h"

#include "scheduler/kubectl-gpu/table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::verdicts {

namespace {

using sched::kubectl::Table;

constexpr std::size_t kIndent = 2;

std::string printed(const Table& table) {
  std::ostringstream out;
  table.print(out, {});
  return out.str();
}

std::string number_of(std::size_t count, std::string_view what) {
  return sched::kubectl::counted(static_cast<std::int64_t>(count), what);
}

template <typename Texts>
std::string joined(const Texts& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : ", ") + text;
  return line;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

std::string verdict_line(const std::string& id, const Answer& ours) {
  const auto fitting = std::count_if(ours.nodes.begin(), ours.nodes.end(), [](const auto& node) {
    return node.second.code == sched::Code::kOk;
  });
  return id + ": " + std::to_string(fitting) + " of " + number_of(ours.nodes.size(), "node") +
         " fit" + (ours.message.empty() ? "" : " - " + ours.message) + '\n';
}

// The columns VERDICT, PLUGIN and REASONS.
std::vector<std::string> cells_of(const NodeVerdict& verdict) {
  return {sched::to_string(verdict.code), or_dash(verdict.plugin),
          or_dash(joined(verdict.reasons))};
}

std::string listed(const std::map<std::string, NodeVerdict>& nodes) {
  Table table({"NODE", "VERDICT", "PLUGIN", "REASONS"}, kIndent);
  for (const auto& [node, verdict] : nodes) {
    std::vector<std::string> row = cells_of(verdict);
    row.insert(row.begin(), node);
    table.add(std::move(row));
  }
  return printed(table);
}

// The answer of the most nodes first.
std::string grouped(const std::map<std::string, NodeVerdict>& nodes) {
  struct Group {
    std::size_t nodes = 0;
    std::string example;  // the first node by name
  };
  std::map<std::vector<std::string>, Group> groups;  // by cells
  for (const auto& [node, verdict] : nodes) {
    Group& group = groups[cells_of(verdict)];
    if (group.nodes++ == 0) group.example = node;
  }
  std::vector<std::pair<std::vector<std::string>, Group>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.nodes > b.second.nodes; });
  Table table({">NODES", "VERDICT", "PLUGIN", "REASONS", "EXAMPLE"}, kIndent);
  for (auto& [row, group] : sorted) {
    row.insert(row.begin(), std::to_string(group.nodes));
    row.push_back(group.example);
    table.add(row);
  }
  return printed(table);
}

std::string node_table(const Answer& ours) {
  if (ours.nodes.empty()) return {};
  return ours.nodes.size() > kMostListed ? grouped(ours.nodes) : listed(ours.nodes);
}

std::int64_t total_of(const Scores& scores) {
  std::int64_t total = 0;
  for (const auto& [plugin, score] : scores) total += score.weighted;
  return total;
}

// What each plugin adds to a node's sum; without the plugins that add nothing to any node.
std::string score_table(const Answer& ours) {
  if (ours.scores.empty()) return {};
  std::set<std::string> plugins;
  std::vector<std::pair<std::int64_t, std::string>> best;  // the total with its sign changed, node
  for (const auto& [node, scores] : ours.scores) {
    best.emplace_back(-total_of(scores), node);
    for (const auto& [plugin, score] : scores) {
      if (score.weighted != 0) plugins.insert(plugin);
    }
  }
  std::sort(best.begin(), best.end());
  if (best.size() > kMostListed) best.resize(kMostListed);
  std::vector<std::string> headers = {"BEST NODES", ">SCORE"};
  for (const std::string& plugin : plugins) headers.push_back(">" + plugin);
  Table table(std::move(headers), kIndent);
  for (const auto& [total, node] : best) {
    const Scores& scores = ours.scores.at(node);
    std::vector<std::string> row = {node, std::to_string(-total)};
    for (const std::string& plugin : plugins) {
      const auto score = scores.find(plugin);
      row.push_back(std::to_string(score == scores.end() ? 0 : score->second.weighted));
    }
    table.add(std::move(row));
  }
  return printed(table);
}

std::string comparison_text(const Comparison& comparison) {
  const std::string begin(kIndent, ' ');
  if (!comparison.missing_plugins.empty()) {
    return begin + "Beside kube-scheduler: left out, because not built here: " +
           joined(comparison.missing_plugins) + '\n';
  }
  std::string text = begin +
                     "Beside kube-scheduler: " + number_of(comparison.agreements, "agreement") +
                     ", " + number_of(comparison.differences.size(), "difference") + '\n';
  if (comparison.differences.empty()) return text;
  Table table({"WHERE", "OURS", "KUBE-SCHEDULER"}, kIndent);
  for (const Difference& each : comparison.differences) {
    table.add({each.where, each.ours, each.given});
  }
  return text + printed(table);
}

}  // namespace

std::string answer_text(const std::string& id, const Answer& ours,
                        const std::optional<Comparison>& comparison, bool quiet) {
  if (quiet && (!comparison || comparison->differences.empty())) return {};
  std::string text = verdict_line(id, ours);
  if (!quiet) text += node_table(ours) + score_table(ours);
  if (comparison) text += comparison_text(*comparison);
  return text + '\n';
}

std::string tally_text(const Tally& tally) {
  return "Cases beside kube-scheduler: " + std::to_string(tally.agree) + " agree, " +
         std::to_string(tally.differ) + " differ, " + std::to_string(tally.left_out) + " left out" +
         (tally.missing_plugins.empty()
              ? ""
              : " (not built here: " + joined(tally.missing_plugins) + ")") +
         '\n';
}

}  // namespace bench::verdicts
