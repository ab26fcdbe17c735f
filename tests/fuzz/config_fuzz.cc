#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/fuzz/fuzz_target.h"

#include <set>
#include <string>

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const auto configuration =
      sched::config::parse(fuzz::as_text(data, size), "file", plugins::registry());
  if (!configuration) {
    fuzz::require(configuration.error().message.starts_with("file:"), "an error names the file");
    return;
  }
  std::set<std::string> names;
  for (const auto& profile : configuration->profiles) names.insert(profile.scheduler_name);
  fuzz::require(!names.empty() && names.size() == configuration->profiles.size(),
                "there are profiles, of different names");
}
