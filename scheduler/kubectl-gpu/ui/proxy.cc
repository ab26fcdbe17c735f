#include "scheduler/kubectl-gpu/ui/proxy.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/status_error.h"
#include "scheduler/kubectl-gpu/options.h"
#include "scheduler/server/ui/files.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace sched::kubectl {

namespace {

using server::Reply;

// Compares all characters, so that the time that it takes reveals nothing about the secret.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  bool differs = false;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= a[i] != b[i];
  return !differs;
}

// Only plain names are allowed, so that no part of the path leads out of /ui.
bool is_below_ui(std::string_view path) {
  if (path != "/ui" && !path.starts_with("/ui/")) return false;
  if (path.find("..") != std::string_view::npos) return false;
  return std::all_of(path.begin(), path.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '-' ||
           c == '_';
  });
}

Reply text(int status, const std::string& sentence) {
  return server::with_ui_headers(server::text_reply(status, sentence + '\n'));
}

Reply reply_of(k8s::Response response) {
  Reply reply =
      server::with_ui_headers(server::text_reply(response.status, std::move(response.body)));
  if (const auto type = response.header("content-type")) reply.content_type = std::string(*type);
  // Passes on only the page's own redirect, which is relative.
  const auto location = response.header("location");
  if (location && *location == "ui/") reply.headers.emplace_back("Location", "ui/");
  return reply;
}

}  // namespace

std::string make_secret() {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 43> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw std::runtime_error("the system has no random numbers");
  }
  std::string secret;
  for (const unsigned char byte : random) secret += kLetters[byte % kLetters.size()];
  return secret;
}

UiProxy::UiProxy(std::string secret, Fetch fetch)
    : secret_(std::move(secret)), fetch_(std::move(fetch)) {}

void UiProxy::listens_at(std::uint16_t port) { port_ = port; }

std::string UiProxy::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + secret_ + "/ui/";
}

bool UiProxy::is_own_name(std::string_view host) const {
  const std::string port = ":" + std::to_string(port_);
  return host == "127.0.0.1" + port || host == "localhost" + port;
}

void UiProxy::get(const server::Request& request, server::HttpServer::Answer answer) const {
  if (!is_own_name(request.host)) {
    return answer(text(421, "this is 127.0.0.1, and answers to no other name"));
  }
  const std::string_view path = request.path.substr(std::min<std::size_t>(request.path.size(), 1));
  const std::string_view secret = path.substr(0, path.find('/'));
  if (!is_same(secret, secret_)) {
    return answer(
        text(403, "the URL that `kubectl gpu ui` printed has a secret, which is missing"));
  }
  const std::string_view target = path.substr(secret.size());
  if (!is_below_ui(target)) return answer(text(404, "there is only the page, at ui/"));
  std::string whole(target);
  if (!request.query.empty()) whole.append("?").append(request.query);
  fetch_(whole, [answer = std::move(answer)](k8s::Result<k8s::Response> response) {
    if (const std::string refusal = refusal_of(response, kUiRole); !refusal.empty()) {
      const int status = response ? response->status : 502;
      return answer(text(status == 401 ? 403 : status, refusal));
    }
    answer(reply_of(*std::move(response)));
  });
}

std::string refusal_of(const k8s::Result<k8s::Response>& response, const std::string& role) {
  if (!response) return response.error().message;
  if (response->status < 400) return {};
  // The scheduler refuses with a sentence, the API server with a Status object.
  const auto type = response->header("content-type");
  if (type && type->starts_with("text/plain")) {
    std::string sentence = response->body;
    while (sentence.ends_with('\n')) sentence.pop_back();
    if (!sentence.empty()) return sentence;
  }
  k8s::Decoder decoder;
  std::string words = k8s::status_error(*response, decoder).message;
  if (response->status == 403) {
    words += "; the Role " + role + " in the scheduler's namespace lets you";
  }
  return words;
}

}  // namespace sched::kubectl
