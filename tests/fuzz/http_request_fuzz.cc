// Any bytes as what a stranger sends to our own server: the first says how they are cut.
//
// A real session over a pair of sockets, with the pages that are served. What it answers is read by
// our own client: two implementations of HTTP against each other.
#include "k8s-client/http/asio/answer_reader.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/query.h"
#include "scheduler/server/session.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/pieces.h"
#include "tests/support/manual_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <utility>

namespace {

using namespace sched::server;

// Of a request; what is longer is not answered.
constexpr std::size_t kMostHeader = 8 * 1024;

// The API server has two tokens: the account of one may read metrics, that of the other may not.
DelegatedAccess::Calls reviews() {
  return {.review_token =
              [](const std::string& token, const auto& done) {
                k8s::TokenStatus status;
                status.authenticated = token == "reader" || token == "stranger";
                status.user.username = token;
                done(status);
              },
          .review_access = [](const k8s::UserInfo& user, const k8s::Access&,
                              const auto& done) { done(user.username == "reader"); }};
}

// The pages of both ports, and what was asked of them.
class Pages {
 public:
  HttpServer::Handler handler() {
    return [this](const Request& request, HttpServer::Answer answer) {
      ++asked;
      fuzz::require(request.path.size() <= kMostHeader, "a path is within its request");
      fuzz::require(request.path.find('?') == std::string_view::npos, "a path has no query");
      fuzz::require(!request.bearer_token || !request.bearer_token->empty(),
                    "a token is not empty");
      if (const auto query = parse_query(request.query)) {
        for (const auto& [name, value] : *query) {
          fuzz::require(name.size() + value.size() <= request.query.size(),
                        "decoding adds nothing");
        }
      }
      if (request.path.starts_with("/m")) {
        return if_allowed(access_, request, {k8s::NonResourceAccess{"/metrics", "get"}},
                          std::move(answer), [this](const auto& to) { to(metrics_.page()); });
      }
      answer(probes_.get(request.path));
    };
  }

  std::size_t asked = 0;

 private:
  tests::ManualLoop loop_;
  DelegatedAccess access_{loop_, reviews(), {.remembered = 8}, {}};
  MetricsEndpoint metrics_{loop_, [] { return std::string("up 1\n"); }};
  ProbeEndpoints probes_{.liveness =
                             [] {
                               return std::vector<Check>{{"ping", true, ""}};
                             },
                         .readiness =
                             [] {
                               return std::vector<Check>{{"caches", false, "not yet"}};
                             }};
};

// Reads what came to `socket` until its end.
std::string read_all(int socket) {
  std::string bytes;
  std::array<char, 4096> chunk{};
  for (ssize_t n = 0; (n = recv(socket, chunk.data(), chunk.size(), 0)) > 0;) {
    bytes.append(chunk.data(), static_cast<std::size_t>(n));
  }
  return bytes;
}

// What a session says to `bytes`, which end there.
std::string said_to(std::string_view bytes, std::uint8_t cut, const HttpServer::Handler& handler) {
  static boost::asio::io_context context;
  context.restart();
  std::array<int, 2> ends{};
  fuzz::require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0, "there are sockets");
  ServerSocket socket(context);
  socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
  make_session(std::move(socket), nullptr, handler, nullptr)->start(std::chrono::seconds(10));
  fuzz::in_pieces(bytes, cut, [&](std::string_view piece) {
    context.poll();
    // A session that has ended takes no more.
    return send(ends[1], piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
  });
  shutdown(ends[1], SHUT_WR);
  context.run();
  std::string said = read_all(ends[1]);
  close(ends[1]);
  return said;
}

class Answer final : public k8s::http::AnswerHandler {
 public:
  explicit Answer(const std::string& bytes) {
    k8s::http::AnswerReader reader;
    reader.start(*this);
    std::memcpy(reader.room().data(), bytes.data(), bytes.size());
    auto progress = reader.take(bytes.size());
    // To HEAD an answer comes with a length and no body.
    if (progress == k8s::http::AnswerReader::Progress::kPartial) progress = reader.take_end();
    whole = progress == k8s::http::AnswerReader::Progress::kComplete;
    keep_alive = reader.keep_alive();
    unread = reader.unread();
  }
  void on_head(k8s::Response head) override { response = std::move(head); }
  void on_body(std::string_view bytes) override { response.body += bytes; }
  void on_complete() override {}
  void on_broken(k8s::Error, bool) override {}

  k8s::Response response;
  bool whole = false;
  bool keep_alive = false;  // where it is whole
  std::size_t unread = 0;
};

void check_answer(const std::string& said, std::string_view asked) {
  static const std::set<int> kStatuses = {200, 401, 403, 404, 405, 503};
  fuzz::require(said.size() <= 1024, "an answer is short, whatever was asked");
  const Answer answer(said);
  fuzz::require(kStatuses.contains(answer.response.status), "a status is one of ours");
  const bool head = asked.starts_with("HEAD ");
  fuzz::require(head || !answer.keep_alive, "one request a connection");
  fuzz::require(head ? answer.response.body.empty() : answer.whole, "an answer is whole");
  fuzz::require(answer.unread == 0, "there is one answer");
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  static Pages pages;
  static const HttpServer::Handler handler = pages.handler();
  const std::string_view bytes = fuzz::as_text(data + 1, size - 1);
  pages.asked = 0;
  const std::string whole = said_to(bytes, 0, handler);
  fuzz::require(pages.asked <= 1, "one request a connection");
  if (!whole.empty()) check_answer(whole, bytes);
  fuzz::require(said_to(bytes, data[0], handler) == whole, "cuts do not change the answer");
}
