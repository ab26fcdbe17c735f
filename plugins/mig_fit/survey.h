// Which nodes could hold an instance of a MIG profile, and which never could.
#pragma once

#include "scheduler/framework/plugin.h"

#include <memory>
#include <string>

namespace plugins {

// `profile` as the resource writes it; `resource` is what pods ask for.
[[nodiscard]] std::unique_ptr<sched::Survey> make_mig_survey(sched::ResourceId resource,
                                                             const std::string& resource_name,
                                                             const std::string& profile);

}  // namespace plugins
