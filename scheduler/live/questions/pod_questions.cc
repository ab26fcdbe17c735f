#include "scheduler/live/questions/pod_questions.h"

#include "k8s-client/parse_number.h"
#include "k8s-client/shown.h"
#include "scheduler/live/questions/answers.h"
#include "scheduler/live/questions/asked_pod.h"
#include "scheduler/live/questions/unanswered.h"
#include "scheduler/server/endpoints.h"
#include "scheduler/server/query.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace sched::live {

namespace {

using server::HttpServer;
using server::json_reply;
using server::Reply;
using server::text_reply;

constexpr std::string_view kExplain = "/explain";
constexpr std::string_view kCandidates = "/candidates";
constexpr std::size_t kDefaultLimit = 100;
constexpr std::size_t kGreatestLimit = 10'000;

struct Parameters {
  AskedPod of;
  std::size_t limit = kDefaultLimit;
};

// Each parameter at most once; on error, what is wrong.
tl::expected<Parameters, std::string> read(std::string_view query) {
  auto given = server::parse_query(query);
  if (!given) return tl::unexpected(std::move(given.error()));
  auto of = take_asked_pod(*given);
  if (!of) return tl::unexpected(std::move(of.error()));
  Parameters parameters{.of = *std::move(of)};
  if (const auto limit = given->extract("limit"); !limit.empty()) {
    const std::string& text = limit.mapped();
    parameters.limit = k8s::parse_number<std::size_t>(text).value_or(0);
    if (parameters.limit < 1 || parameters.limit > kGreatestLimit) {
      return tl::unexpected(fmt::format("limit \"{}\": it must be a number from 1 to {}",
                                        k8s::shown(text), kGreatestLimit));
    }
  }
  if (!given->empty()) {
    return tl::unexpected(
        fmt::format("there is no parameter \"{}\"; there are namespace, pod and limit",
                    k8s::shown(given->begin()->first)));
  }
  return parameters;
}

}  // namespace

// A question that is being answered.
struct PodQuestions::Asked {
  bool explains = false;  // else it names candidates
  Parameters parameters;
  HttpServer::Answer answer;
  Asker::Client client;
};

PodQuestions::PodQuestions(k8s::EventLoop& loop, server::DelegatedAccess& access, Asker& asker,
                           GetPod get_pod, std::unordered_set<std::string> scheduler_names)
    : access_(loop, access, kBudget),
      asker_(asker),
      get_pod_(std::move(get_pod)),
      scheduler_names_(std::move(scheduler_names)) {}

bool PodQuestions::serves(std::string_view path) { return path == kExplain || path == kCandidates; }

void PodQuestions::get(const server::Request& request, HttpServer::Answer answer) {
  auto parameters = read(request.query);
  if (!parameters) return answer(text_reply(400, parameters.error() + '\n'));
  std::vector<k8s::Access> wanted = {
      k8s::NonResourceAccess{.path = std::string(request.path), .verb = "get"},
      k8s::ResourceAccess{.verb = "get",
                          .resource = "pods",
                          .namespace_ = parameters->of.namespace_,
                          .name = parameters->of.pod}};
  access_.if_allowed(
      request, std::move(wanted), std::move(answer),
      [this, explains = request.path == kExplain, parameters = *std::move(parameters),
       client = request.client](HttpServer::Answer allowed, const std::string& user) {
        read_pod(std::make_shared<const Asked>(
            Asked{explains, parameters, std::move(allowed), {user, client}}));
      });
}

void PodQuestions::read_pod(const std::shared_ptr<const Asked>& asked) {
  const auto& [namespace_, name] = asked->parameters.of;
  get_pod_(namespace_, name, [this, asked](const k8s::Result<k8s::Pod>& pod) {
    if (pod) return ask_engine(asked, *pod);
    const bool is_unknown = pod.error().is_status(404);
    asked->answer(text_reply(is_unknown ? 404 : 503, pod.error().message + '\n'));
  });
}

std::string PodQuestions::objection_to(const k8s::Pod& pod) const {
  if (!scheduler_names_.contains(pod.spec.scheduler_name)) {
    return fmt::format("its schedulerName is \"{}\", which is not served here",
                       k8s::shown(pod.spec.scheduler_name));
  }
  if (pod.is_finished()) return "it has finished";
  return {};
}

void PodQuestions::ask_engine(const std::shared_ptr<const Asked>& asked, const k8s::Pod& pod) {
  if (const std::string objection = objection_to(pod); !objection.empty()) {
    return asked->answer(
        text_reply(404, fmt::format("pods \"{}/{}\": {}\n", pod.metadata.namespace_,
                                    pod.metadata.name, objection)));
  }
  // Which nodes it could go to, not only the one that it has.
  k8s::Pod unbound = pod;
  unbound.spec.node_name.clear();
  const std::size_t limit = asked->parameters.limit;
  if (asked->explains) {
    asker_.ask([unbound](const Engine& engine) { return engine.explain(unbound); }, asked->client,
               [this, asked, pod, limit](const tl::expected<Explanation, Unanswered>& answer) {
                 asked->answer(answer ? json_reply(to_json(pod, *answer, limit))
                                      : reply_to(answer.error(), asker_.leader()));
               });
  } else {
    asker_.ask([unbound, limit](const Engine& engine) { return engine.candidates(unbound, limit); },
               asked->client,
               [this, asked, pod](const tl::expected<std::vector<Candidate>, Unanswered>& answer) {
                 asked->answer(answer ? json_reply(to_json(pod, *answer))
                                      : reply_to(answer.error(), asker_.leader()));
               });
  }
}

}  // namespace sched::live
