#include "bench/verdicts/verdicts.h"

#include "bench/verdicts/case.h"
#include "bench/verdicts/compare.h"
#include "bench/verdicts/judge.h"
#include "bench/verdicts/line_reader.h"
#include "bench/verdicts/show.h"
#include "k8s-client/json_text.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <ostream>

namespace bench::verdicts {

namespace {

using Json = nlohmann::ordered_json;

std::string to_line(const Json& json) { return k8s::json_text(json) + "\n"; }

std::string to_line(const std::string& id, const Answer& answer) {
  Json nodes = Json::object();
  for (const auto& [name, verdict] : answer.nodes) {
    Json& node = nodes[name];
    node["code"] = sched::to_string(verdict.code);
    if (!verdict.plugin.empty()) node["plugin"] = verdict.plugin;
    if (!verdict.reasons.empty()) node["reasons"] = verdict.reasons;
  }
  Json json = {{"id", id}, {"verdicts", std::move(nodes)}};
  if (!answer.message.empty()) json["message"] = answer.message;
  for (const auto& [node, scores] : answer.scores) {
    Json& of_node = json["scores"][node];
    for (const auto& [plugin, score] : scores) {
      of_node[plugin] = {{"normalized", score.normalized}, {"weighted", score.weighted}};
    }
  }
  if (answer.preemption) {
    json["preemption"]["best"] = answer.preemption->best;
    json["preemption"]["victims"] = answer.preemption->victims;
  }
  return to_line(json);
}

std::string to_line(const Tally& tally) {
  return to_line({{"agree", tally.agree},
                  {"differ", tally.differ},
                  {"leftOut", tally.left_out},
                  {"missingPlugins", tally.missing_plugins}});
}

// Nothing: the case comes without an answer.
std::optional<Comparison> comparison_of(const Case& question, const Answer& ours) {
  if (!question.answer) return {};
  return compare(*question.answer, ours, scoring_plugins(question), is_built);
}

void print_differences(const Comparison& comparison, const std::string& where, std::ostream& err) {
  for (const Difference& difference : comparison.differences) {
    err << where << ": " << to_text(difference) << "\n";
  }
}

k8s::Result<void> run_file(const std::string& path, const Options& options, Tally& tally,
                           std::ostream& out, std::ostream& err) {
  auto lines = LineReader::open(path);
  if (!lines) return tl::unexpected(lines.error());
  while (true) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (!*line) return {};
    if ((*line)->find_first_not_of(" \t") == std::string::npos) continue;
    const auto question = parse_case(**line, lines->place());
    if (!question) return tl::unexpected(k8s::with_context(question.error(), lines->place()));
    ++tally.cases;
    const bool given = question->answer && !question->answer->scores.empty();
    const Answer ours = judge(*question, options.scores || given);
    const std::optional<Comparison> comparison = comparison_of(*question, ours);
    if (comparison) tally.add(*comparison);
    if (options.output == Output::kTable) {
      out << answer_text(question->id, ours, comparison, options.quiet);
    } else {
      if (!options.quiet) out << to_line(question->id, ours);
      if (comparison) print_differences(*comparison, lines->place() + ": " + question->id, err);
    }
  }
}

}  // namespace

int run(const Options& options, std::ostream& out, std::ostream& err) {
  Tally tally;
  for (const std::string& path : options.files) {
    const std::size_t before = tally.cases;
    if (const auto done = run_file(path, options, tally, out, err); !done) {
      err << done.error().message << "\n";
      return 2;
    }
    if (tally.cases == before) {
      err << path << ": no case in it\n";
      return 2;
    }
  }
  if (tally.has_answers()) {
    out << (options.output == Output::kTable ? tally_text(tally) : to_line(tally));
  }
  if (!out.flush()) {
    err << "verdicts: the answers could not be written\n";
    return 2;
  }
  return tally.differ > 0 ? 1 : 0;
}

}  // namespace bench::verdicts
