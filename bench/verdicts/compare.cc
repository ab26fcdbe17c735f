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

}  // namespace

std::vector<std::string> differences(const Answer& given, const Answer& ours,
                                     const std::set<std::string>& scoring) {
  std::vector<std::string> found;
  for (const auto& [node, verdict] : given.nodes) {
    const auto our = ours.nodes.find(node);
    if (our == ours.nodes.end()) {
      found.push_back(node + ": given " + to_text(verdict) + "; ours nothing");
    } else if (!agrees(verdict, our->second)) {
      found.push_back(node + ": given " + to_text(verdict) + "; ours " + to_text(our->second));
    }
  }
  for (const auto& [node, verdict] : ours.nodes) {
    if (given.nodes.contains(node)) continue;
    found.push_back(node + ": given nothing; ours " + to_text(verdict));
  }
  const bool is_known = !given.message.empty() || some_node_fits(given);
  if (is_known && given.message != ours.message) {
    found.push_back("message: given \"" + given.message + "\"; ours \"" + ours.message + "\"");
  }
  for (const auto& [node, scores] : given.scores) {
    for (const std::string& plugin : scoring) {
      const Score theirs = score_of(scores, plugin);
      const auto known = ours.scores.find(node);
      const Score own = known == ours.scores.end() ? Score{} : score_of(known->second, plugin);
      if (theirs == own) continue;
      found.push_back(node + ": score of " + plugin + ": given " + to_text(theirs) + "; ours " +
                      to_text(own));
    }
  }
  return found;
}

std::set<std::string> missing_plugins(const Answer& given,
                                      const std::function<bool(const NodeVerdict&)>& built) {
  std::set<std::string> missing;
  for (const auto& [node, verdict] : given.nodes) {
    if (!verdict.plugin.empty() && !built(verdict)) missing.insert(verdict.plugin);
  }
  return missing;
}

}  // namespace bench::verdicts
