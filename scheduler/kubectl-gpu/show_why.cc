#include "scheduler/kubectl-gpu/show.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::kubectl {
namespace {

using answers::Why;
using Verdict = Why::Verdict;

std::string fitting(const Why& why) {
  return std::to_string(why.fitting_nodes) + " of " +
         counted(static_cast<std::int64_t>(why.all_nodes), "node") + " fit";
}

Coloured word_for(Verdict verdict, const Style& style) {
  switch (verdict) {
    case Verdict::kPlaced:
      return coloured("PLACED", Colour::kGreen, style);
    case Verdict::kStarts:
      return coloured("STARTS", Colour::kGreen, style);
    case Verdict::kWaits:
      return coloured("WAITS", Colour::kYellow, style);
    case Verdict::kGated:
      return coloured("GATED", Colour::kYellow, style);
    case Verdict::kNever:
      return coloured("NEVER AS WRITTEN", Colour::kRed, style);
    case Verdict::kNotOurs:
      return coloured("NOT OURS", Colour::kYellow, style);
    case Verdict::kFinished:
      break;
  }
  return {"FINISHED"};
}

// What stands behind the word, with a blank before it.
std::string rest_of_verdict(const Why& why, const Style& style) {
  const std::string waited = age(why.since, style.now);
  switch (why.verdict) {
    case Verdict::kPlaced:
      return " " + why.node + " " + waited + " ago" +
             (why.all_nodes == 0 ? "" : "; now " + fitting(why));
    case Verdict::kStarts:
      return (why.node.empty() ? "" : " on " + why.node) + " after " + waited + ", " + fitting(why);
    case Verdict::kWaits:
    case Verdict::kGated:
      return " " + waited + " - " + why.headline;
    case Verdict::kNever:
      return " - " + why.headline;
    case Verdict::kNotOurs:
      return " - it waits for schedulerName \"" + why.scheduler_name + "\"" +
             (why.headline.empty() ? "" : ", " + why.headline);
    case Verdict::kFinished:
      break;
  }
  return {};
}

// "Chosen by decision 42 from 6 of 8 nodes, 4s after it came: score 87, 3 more than a100-2".
void show_chosen(TextOut out, const Why& why) {
  if (!why.chosen) return;
  const answers::Chosen& chosen = *why.chosen;
  out << "  Chosen by decision " << chosen.decision << " from " << chosen.fitting_nodes << " of "
      << counted(static_cast<std::int64_t>(chosen.all_nodes), "node") << ", "
      << age(Time{}, Time{chosen.waited}) << " after it came";
  if (chosen.attempts > 1) out << " at attempt " << chosen.attempts;
  out << ": score " << chosen.score;
  if (chosen.runner_up) {
    const std::int64_t margin = chosen.score - chosen.runner_up->score;
    const std::string& node = chosen.runner_up->node;
    out << (margin == 0 ? ", as much as " : ", " + std::to_string(margin) + " more than ")
        << (node.empty() ? "the next node" : node);
    if (margin == 0) out << ", which comes behind it";
  }
  out << '\n';
}

void show_reasons(TextOut out, const Why& why, const Style& style) {
  if (why.reasons.empty()) return;
  Table table({">NODES", "REASON", "EXAMPLE"}, 2);
  for (const answers::ReasonRow& row : why.reasons) {
    table.add({std::to_string(row.nodes), row.reason, row.example});
  }
  table.print(out, style);
}

// Null: the plugin gave it none. An answer comes from a scheduler of any version.
const PluginScore* score_of(const Candidate& candidate, const std::string& plugin) {
  const auto& scores = candidate.scores;
  const auto found = std::find_if(scores.begin(), scores.end(),
                                  [&](const PluginScore& score) { return score.plugin == plugin; });
  return found == scores.end() ? nullptr : &*found;
}

// The plugins that gave any of the nodes a score other than zero.
std::vector<std::string> telling_plugins(const std::vector<Candidate>& candidates) {
  std::vector<std::string> plugins;
  for (const PluginScore& score : candidates.front().scores) {
    const bool tells =
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
          const PluginScore* const other = score_of(candidate, score.plugin);
          return other != nullptr && other->score != 0;
        });
    if (tells) plugins.push_back(score.plugin);
  }
  return plugins;
}

void show_candidates(TextOut out, const Why& why, const Style& style) {
  if (why.candidates.empty()) return;
  const std::vector<std::string> plugins = telling_plugins(why.candidates);
  std::vector<std::string> headers = {">RANK", "NODE", ">TOTAL"};
  for (const std::string& plugin : plugins) headers.push_back(">" + plugin);
  headers.emplace_back("");
  Table table(std::move(headers), 2);
  std::size_t rank = 0;
  const Candidate* before = nullptr;
  for (const Candidate& candidate : why.candidates) {
    std::vector<std::string> row = {std::to_string(++rank), candidate.node,
                                    std::to_string(candidate.total_score)};
    for (const std::string& plugin : plugins) {
      const PluginScore* const score = score_of(candidate, plugin);
      row.push_back(score == nullptr
                        ? std::string("-")
                        : std::to_string(score->score) + "·" + std::to_string(score->weight));
    }
    const bool ties = before != nullptr && before->total_score == candidate.total_score;
    std::string note = candidate.node == why.node ? "here" : "";
    if (ties) note += (note.empty() ? "" : ", ") + ("tie with " + before->node);
    row.push_back(std::move(note));
    table.add(std::move(row));
    before = &candidate;
  }
  table.print(out, style);
}

// Whether the table of reasons has the sentence, too: "TaintToleration: REASON (first EXAMPLE)."
bool is_in_table(std::string_view sentence, const Why& why) {
  return std::any_of(why.reasons.begin(), why.reasons.end(), [&](const answers::ReasonRow& row) {
    return sentence.ends_with(": " + row.reason + " (first " + row.example + ").");
  });
}

// The engine's sentences, one a line.
void show_details(TextOut out, const Why& why) {
  std::string_view text = why.details;
  while (!text.empty()) {
    const auto end = text.find(". ");
    const std::string_view sentence = text.substr(0, end == std::string_view::npos ? end : end + 1);
    if (!is_in_table(sentence, why)) out << "  " << sentence << '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
}

std::string joined_with_and(const std::vector<std::string>& texts) {
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) text += i + 1 == texts.size() ? " and " : ", ";
    text += texts[i];
  }
  return text;
}

// Of pods on one node; some of them may have no name here.
void show_ends(TextOut out, const Why& why) {
  std::vector<std::string> ends = why.ends;
  if (why.withheld && why.withheld->pods > 0) {
    ends.push_back(counted(static_cast<std::int64_t>(why.withheld->pods), "other pod") + " (" +
                   std::to_string(why.withheld->gpus) + ")");
  }
  if (ends.empty()) return;
  const bool is_one = ends.size() == 1 && (why.ends.size() == 1 || why.withheld->pods == 1);
  out << "Frees when: " << (why.room.node.empty() ? "on one node" : why.room.node) << ": "
      << joined_with_and(ends) << (is_one ? " ends" : " end") << '\n';
}

// "nodeSelector example.com/zone: b (a100-2)", "no annotation gpu-scheduler.io/gpu-type (l4-1,
// after demo/x (4))"
std::string words_of(const answers::Remedy& remedy) {
  const PodChange& change = remedy.change;
  std::string words = change.to.empty() ? "no " + change.what : change.what + ": " + change.to;
  std::string where = change.node;
  if (!remedy.ends.empty()) {
    where += (where.empty() ? "after " : ", after ") + joined_with_and(remedy.ends);
  }
  return where.empty() ? words : words + " (" + where + ")";
}

void show_room(TextOut out, const Why& why) {
  show_ends(out, why);
  const bool is_unnamed = why.withheld && why.withheld->nodes;
  const char* lead = "Would run if: ";
  if (!why.room.if_empty.empty()) {
    out << lead << "+1 node like " << why.room.if_empty;
    if (!why.room.if_empty_type.empty()) out << " (" << why.room.if_empty_type << ')';
    out << '\n';
    lead = "       or if: ";
  } else if (is_unnamed && !why.room.if_empty_type.empty()) {
    out << lead << "+1 node with " << why.room.if_empty_type << '\n';
    lead = "       or if: ";
  } else if (!is_unnamed && why.verdict == Verdict::kWaits && why.is_for_nodes &&
             why.fitting_nodes == 0) {
    out << "No node would take it even if nothing ran there\n";
  }
  for (const answers::Remedy& remedy : why.remedies) {
    out << lead << words_of(remedy) << '\n';
    lead = "       or if: ";
  }
}

std::string next_step(const Why& why, const Style& style) {
  const std::string in = " -n " + why.pod.namespace_;
  const std::string get = "kubectl get pod/" + why.pod.name + in + style.kubectl_flags + " -o yaml";
  // A user for whom names were left out may lack the rights that the commands for the whole cluster
  // need.
  const bool is_told_all = !why.withheld;
  switch (why.verdict) {
    case Verdict::kPlaced:
    case Verdict::kFinished:
      return {};
    case Verdict::kStarts:
      if (!is_told_all) return {};
      return "kubectl get lease " + style.lease + style.kubectl_flags +
             "   # does the scheduler run?";
    case Verdict::kWaits:
      if (!is_told_all) break;
      if (why.is_for_pods) return "kubectl get pods" + in + style.kubectl_flags;
      if (why.is_for_quota)
        return "kubectl gpu quota" + in + style.scheduler_flags + style.cluster_flags;
      if (!why.room.if_empty.empty()) {
        return "kubectl gpu plan --add " + why.room.if_empty + "=1" + style.cluster_flags;
      }
      return get;
    case Verdict::kGated:
    case Verdict::kNever:
    case Verdict::kNotOurs:
      break;
  }
  return get;
}

}  // namespace

void show(TextOut out, const Why& why, const Style& style) {
  // "WAITS 7m - …": the answer in one line.
  out << word_for(why.verdict, style) << rest_of_verdict(why, style) << '\n';
  if (why.verdict == Verdict::kPlaced || why.verdict == Verdict::kStarts) {
    show_chosen(out, why);
    show_candidates(out, why, style);
    show_reasons(out, why, style);
  } else {
    show_reasons(out, why, style);
    show_details(out, why);
    show_room(out, why);
  }
  show_age(out, why.data_age);
  if (const std::string next = next_step(why, style); !next.empty())
    out << "Next: " << next << '\n';
}

}  // namespace sched::kubectl
