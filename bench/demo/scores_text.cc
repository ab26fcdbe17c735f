#include "bench/demo/scores_text.h"

#include <fmt/core.h>

namespace bench {

std::string scores_text(const sched::decision::Bind& bind) {
  std::string text = fmt::format("{} =", bind.total_score);
  const char* joiner = " ";
  for (const sched::PluginScore& part : bind.scores) {
    if (part.score == 0) continue;
    text += fmt::format("{}{} {}·{}", joiner, part.plugin, part.score, part.weight);
    joiner = " + ";
  }
  if (bind.total_score == 0) text += " 0";
  text += fmt::format("; {} of {} nodes fit", bind.feasible_nodes, bind.all_nodes);
  return text;
}

}  // namespace bench
