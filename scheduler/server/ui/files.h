// The parts of the page that do not change: HTML, styles and modules, built into the program.
//
// A folder of plain files, with no step between what is written and what a browser reads. The one
// library among them is uPlot, which draws the curves: vendor/, with its licence, and with its
// checksum in CMakeLists.txt.
//
// By ui_headers() the browser loads and runs only what comes from the same place as the page.
#pragma once

#include "scheduler/server/http_server.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched::server {

// The part at a path below /ui: "/ui/app.js"; the page itself at "/ui/". nullopt: there is none.
[[nodiscard]] std::optional<Reply> ui_file(std::string_view path);

// What every answer of the page carries: no other page may frame it or read it, and nothing but its
// own parts is loaded.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> ui_headers();
// `reply` with these instead of its own.
[[nodiscard]] Reply with_ui_headers(Reply reply);

}  // namespace sched::server
