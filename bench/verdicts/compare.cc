#include "bench/verdicts/compare.h"

#include <algorithm>

namespace bench::verdicts {

namespace {

std::string to_text(const NodeVerdict& verdict) {
  std::string text = sched::to_string(verdict.code);
  if (!verdict.plugin.empty()) text += " by " + verdict.plugin;
  std::string_view separator = ": ";
  for (const std::string& reason : verdict.reasons) {
    text.append(separator).append(reason);
    separator = "; ";
  }
  return text;
}

std::string to_text(const Score& score) {
  return std::to_string(score.normalized) + " (" + std::to_string(score.weighted) + ")";
}

Score score_of(const Scores& scores, const std::string& plugin) {
  const auto known = scores.find(plugin);
  return known == scores.end() ? Score{} : known->second;
}

bool agrees(const NodeVerdict& given, const NodeVerdict& ours) {
  const bool was_asked = given.code == sched::Code::kOk || !given.plugin.empty();
  return was_asked ? given == ours : given.code == ours.code;
}

bool some_node_fits(const Answer& answer) {
  return std::any_of(answer.nodes.begin(), answer.nodes.end(),
                     [](const auto& node) { return node.second.code == sched::Code::kOk; });
}

std::set<std::string> missing_plugins(const Answer& given,
                                      const std::function<bool(const NodeVerdict&)>& built) {
  std::set<std::string> missing;
  for (const auto& [node, verdict] : given.nodes) {
    if (!verdict.plugin.empty() && !built(verdict)) missing.insert(verdict.plugin);
  }
  return missing;
}

void compare_nodes(const Answer& given, const Answer& ours, Comparison& found) {
  for (const auto& [node, verdict] : given.nodes) {
    const auto our = ours.nodes.find(node);
    if (our == ours.nodes.end()) {
      found.differences.push_back({node, to_text(verdict), "nothing"});
    } else if (!agrees(verdict, our->second)) {
      found.differences.push_back({node, to_text(verdict), to_text(our->second)});
    } else {
      ++found.agreements;
    }
  }
  for (const auto& [node, verdict] : ours.nodes) {
    if (given.nodes.contains(node)) continue;
    found.differences.push_back({node, "nothing", to_text(verdict)});
  }
}

void compare_messages(const Answer& given, const Answer& ours, Comparison& found) {
  const bool is_known = !given.message.empty() || some_node_fits(given);
  if (!is_known) return;
  if (given.message == ours.message) {
    ++found.agreements;
  } else {
    found.differences.push_back({"message", '"' + given.message + '"', '"' + ours.message + '"'});
  }
}

void compare_scores(const Answer& given, const Answer& ours, const std::set<std::string>& scoring,
                    Comparison& found) {
  for (const auto& [node, scores] : given.scores) {
    const auto known = ours.scores.find(node);
    for (const std::string& plugin : scoring) {
      const Score theirs = score_of(scores, plugin);
      const Score own = known == ours.scores.end() ? Score{} : score_of(known->second, plugin);
      if (theirs == own) {
        ++found.agreements;
      } else {
        found.differences.push_back({node + ": score of " + plugin, to_text(theirs), to_text(own)});
      }
    }
  }
}

std::string to_text(const Preemption& preemption) {
  if (preemption.best.empty()) return "evicts nobody";
  std::string text;
  for (const std::string& node : preemption.best) {
    text += (text.empty() ? "on " : ", or on ") + node;
    const auto victims = preemption.victims.find(node);
    if (victims == preemption.victims.end()) continue;
    for (const std::string& pod : victims->second) text += ' ' + pod;
  }
  return text;
}

bool agrees(const Preemption& given, const Preemption& ours) {
  if (given.best.empty() || ours.best.size() != 1) return given.best == ours.best;
  const std::string& node = *ours.best.begin();
  const auto theirs = given.victims.find(node);
  return given.best.contains(node) && theirs != given.victims.end() &&
         theirs->second == ours.victims.at(node);
}

void compare_preemption(const Answer& given, const Answer& ours, Comparison& found) {
  if (!given.preemption || !ours.preemption) return;
  if (agrees(*given.preemption, *ours.preemption)) {
    ++found.agreements;
  } else {
    found.differences.push_back(
        {"preemption", to_text(*given.preemption), to_text(*ours.preemption)});
  }
}

}  // namespace

std::string to_text(const Difference& difference) {
  return difference.where + ": given " + difference.given + "; ours " + difference.ours;
}

Comparison compare(const Answer& given, const Answer& ours, const std::set<std::string>& scoring,
                   const std::function<bool(const NodeVerdict&)>& built) {
  Comparison found{.missing_plugins = missing_plugins(given, built)};
  if (!found.missing_plugins.empty()) return found;
  compare_nodes(given, ours, found);
  compare_messages(given, ours, found);
  compare_scores(given, ours, scoring, found);
  compare_preemption(given, ours, found);
  return found;
}

void Tally::add(const Comparison& comparison) {
  if (!comparison.missing_plugins.empty()) {
    ++left_out;
    missing_plugins.insert(comparison.missing_plugins.begin(), comparison.missing_plugins.end());
    return;
  }
  ++(comparison.differences.empty() ? agree : differ);
}

}  // namespace bench::verdicts
