#include "k8s-client/leader_election/leader_elector.h"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace k8s {

namespace {

// Part of the protocol.
bool is_expected(LeaseRequest::Kind asked, const Error& error) {
  if (error.kind != ErrorKind::kStatus) return false;
  if (error.http_status == 404) return asked != LeaseRequest::Kind::kCreate;
  return error.http_status == 409 && asked != LeaseRequest::Kind::kGet;
}

}  // namespace

LeaderElector::LeaderElector(Client& client, EventLoop& loop, ElectionOptions options, Hooks hooks,
                             Clock clock)
    : client_(client),
      loop_(loop),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      clock_(std::move(clock)),
      election_(options_) {}

LeaderElector::~LeaderElector() { *alive_ = false; }

ElectionTime LeaderElector::system_time() {
  return {.boot = BootClock::now(),
          .wall = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now())};
}

void LeaderElector::start() { take(election_.start(clock_())); }

void LeaderElector::stop() {
  stopped_ = true;
  timer_.reset();
  release_limit_.reset();
  released_ = nullptr;
}

void LeaderElector::release(std::chrono::milliseconds limit, std::function<void()> done,
                            bool all_settled) {
  released_ = std::move(done);
  release_limit_ = loop_.after(limit, [this] { finish_release(); });
  ElectionStep step = election_.release(clock_(), all_settled);
  // Without a step, the request under way is still awaited, or the election is over.
  timer_.reset();
  take(std::move(step));
}

void LeaderElector::take(ElectionStep step) {
  if (step.request) return send(std::move(*step.request));
  if (step.wait) {
    timer_ = loop_.after(*step.wait, [this] { take(election_.waited(clock_())); });
    return;
  }
  if (election_.state() != Election::State::kEnded) return;
  if (released_) {
    // After the caller's present call: it may just have called release().
    loop_.post([this, alive = alive_] {
      if (*alive) finish_release();
    });
  } else if (!election_.why_lost().empty()) {
    hooks_.on_stopped_leading(election_.why_lost());
  }
}

void LeaderElector::send(LeaseRequest request) {
  auto done = [this, alive = alive_, asked = request.kind](Result<Lease> answer) {
    if (*alive && !stopped_) on_answer(asked, std::move(answer));
  };
  switch (request.kind) {
    case LeaseRequest::Kind::kGet:
      return client_.get_lease(options_.namespace_, options_.name, request.deadline,
                               std::move(done));
    case LeaseRequest::Kind::kCreate:
      return client_.create_lease(request.lease, request.deadline, std::move(done));
    case LeaseRequest::Kind::kUpdate:
      return client_.update_lease(request.lease, request.deadline, std::move(done));
  }
}

void LeaderElector::on_answer(LeaseRequest::Kind asked, Result<Lease> answer) {
  const bool led = leads();
  const auto valid = election_.valid_until();
  if (answer || is_expected(asked, answer.error())) {
    hooks_.on_answered();
  } else {
    hooks_.on_problem(answer.error());
  }
  ElectionStep step = election_.answered(std::move(answer), clock_());
  if (step.problem) hooks_.on_problem(*step.problem);
  report_changes(led, valid);
  if (!stopped_) take(std::move(step));
}

void LeaderElector::report_changes(bool led_before, BootClock::time_point valid_before) {
  if (election_.holder() != reported_leader_) {
    reported_leader_ = election_.holder();
    if (reported_leader_ != options_.identity) hooks_.on_new_leader(reported_leader_);
  }
  if (!leads() || election_.valid_until() == valid_before) return;
  if (!led_before) hooks_.on_started_leading();
  if (!stopped_) hooks_.on_renewed();
}

void LeaderElector::finish_release() {
  release_limit_.reset();
  stopped_ = true;
  timer_.reset();
  if (const auto done = std::exchange(released_, nullptr)) done();
}

std::string make_identity(const std::string& host_name) {
  std::random_device random;
  const auto word = [&random] { return random() & 0xffff'ffffU; };
  const auto a = word();
  const auto b = word();
  const auto c = word();
  const auto d = word();
  // RFC 9562, version 4: random but for six bits.
  return fmt::format("{}_{:08x}-{:04x}-4{:03x}-{:04x}-{:04x}{:08x}", host_name, a, b >> 16U,
                     b & 0xfffU, 0x8000U | ((c >> 16U) & 0x3fffU), c & 0xffffU, d);
}

}  // namespace k8s
