#include "scheduler/server/ui/files.h"

#include <algorithm>
#include <array>
#include <memory>

namespace sched::server {

// Embedded: CMakeLists.txt.
extern const std::string_view kUiIndex;
extern const std::string_view kUiPalette;
extern const std::string_view kUiBase;
extern const std::string_view kUiStyle;
extern const std::string_view kUiApp;
extern const std::string_view kUiDom;
extern const std::string_view kUiOverview;
extern const std::string_view kUiMap;
extern const std::string_view kUiQueue;
extern const std::string_view kUiWhy;
extern const std::string_view kUiQuotas;
extern const std::string_view kUiDecisions;
extern const std::string_view kUiChart;
extern const std::string_view kUiHistory;
extern const std::string_view kUiWhatIf;
extern const std::string_view kUiIcon;
extern const std::string_view kUplotScript;
extern const std::string_view kUplotStyle;
extern const std::string_view kUplotLicence;

namespace {

constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr const char* kCss = "text/css; charset=utf-8";
constexpr const char* kScript = "text/javascript; charset=utf-8";
constexpr const char* kPlain = "text/plain; charset=utf-8";

struct File {
  std::string_view path;
  const std::string_view* text;
  const char* type;
};

constexpr std::array<File, 19> kFiles = {{
    {"/ui/", &kUiIndex, kHtml},
    {"/ui/palette.css", &kUiPalette, kCss},
    {"/ui/base.css", &kUiBase, kCss},
    {"/ui/style.css", &kUiStyle, kCss},
    {"/ui/app.js", &kUiApp, kScript},
    {"/ui/dom.js", &kUiDom, kScript},
    {"/ui/overview.js", &kUiOverview, kScript},
    {"/ui/map.js", &kUiMap, kScript},
    {"/ui/queue.js", &kUiQueue, kScript},
    {"/ui/why.js", &kUiWhy, kScript},
    {"/ui/quotas.js", &kUiQuotas, kScript},
    {"/ui/decisions.js", &kUiDecisions, kScript},
    {"/ui/chart.js", &kUiChart, kScript},
    {"/ui/history.js", &kUiHistory, kScript},
    {"/ui/what-if.js", &kUiWhatIf, kScript},
    {"/ui/icon.svg", &kUiIcon, "image/svg+xml"},
    {"/ui/vendor/uplot.js", &kUplotScript, kScript},
    {"/ui/vendor/uplot.css", &kUplotStyle, kCss},
    {"/ui/vendor/LICENSE", &kUplotLicence, kPlain},
}};

// The page finds its parts by relative paths, so that it works under any path of a proxy. For that
// its own path must end with "/".
Reply redirect_to_folder() {
  Reply reply = with_ui_headers(text_reply(308, "the page is at ui/\n"));
  reply.headers.emplace_back("Location", "ui/");
  return reply;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ui_headers() {
  return {{"Content-Security-Policy",
           "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
           "object-src 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

Reply with_ui_headers(Reply reply) {
  reply.headers = ui_headers();
  return reply;
}

std::optional<Reply> ui_file(std::string_view path) {
  if (path == "/ui") return redirect_to_folder();
  const auto* const found = std::find_if(kFiles.begin(), kFiles.end(),
                                         [&](const File& file) { return file.path == path; });
  if (found == kFiles.end()) return std::nullopt;
  return Reply{.body = std::make_shared<const std::string>(*found->text),
               .content_type = found->type,
               .headers = ui_headers()};
}

}  // namespace sched::server
