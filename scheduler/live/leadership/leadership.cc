#include "scheduler/live/leadership/leadership.h"

#include "scheduler/live/log.h"

#include <algorithm>
#include <utility>

namespace sched::live {

namespace {

using std::chrono::milliseconds;
using Origin = k8s::Election::Origin;

constexpr const char* kLeaseSource = "lease";
constexpr const char* kReadSource = "read pods after the takeover";

std::string lease_text(const k8s::ElectionOptions& election) {
  return election.namespace_ + "/" + election.name;
}

const char* text_of(Origin origin) {
  switch (origin) {
    case Origin::kCreated:
      return "there was none, or it proves nothing";
    case Origin::kReleased:
      return "it was given back";
    case Origin::kExpired:
      return "it had expired";
  }
  return "";
}

// How long binds of an unknown earlier scheduler may still be carried out.
milliseconds unknown_predecessor_time(const k8s::ElectionOptions& election) {
  const BindTimes most;
  return std::max<milliseconds>(election.lease_duration, most.deadline + most.margin);
}

}  // namespace

Leadership::Leadership(Api api, k8s::EventLoop& loop, Options options, Hooks hooks,
                       k8s::LeaderElector::Clock clock)
    : loop_(loop),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      clock_(std::move(clock)),
      gate_(options_.bind_times),
      elector_(api.lease_client, loop, options_.election, elector_hooks(), clock_),
      catch_up_(api.transport, loop, options_.scheduler_names,
                {.on_done = [this] { on_caught_up(); },
                 .on_behind = [this] { hooks_.on_watches_behind(); },
                 .on_problem =
                     [this](const k8s::Error& error, milliseconds retry_in) {
                       hooks_.on_problem(kReadSource, error, retry_in);
                     }},
                std::move(api.observer)) {}

k8s::LeaderElector::Hooks Leadership::elector_hooks() {
  return {.on_started_leading = [this] { on_started_leading(); },
          .on_renewed =
              [this] {
                gate_.held_until(elector_.election().valid_until());
                hooks_.on_gate_open();
              },
          .on_stopped_leading = [this](const std::string& why) { on_stopped_leading(why); },
          .on_new_leader =
              [this](const std::string& identity) {
                if (ending_) return;
                hooks_.on_leader(identity);
                LogLine("standing by")
                    .with("lease", lease_text(options_.election))
                    .with("leader", identity.empty() ? "nobody" : identity)
                    .info();
              },
          .on_problem =
              [this](const k8s::Error& error) {
                hooks_.on_problem(kLeaseSource, error, options_.election.retry_period);
              },
          .on_answered = [this] { hooks_.on_progress(kLeaseSource); }};
}

void Leadership::start() {
  LogLine("electing a leader")
      .with("lease", lease_text(options_.election))
      .with("identity", options_.election.identity)
      .info();
  const auto open_for =
      options_.election.lease_duration - options_.bind_times.deadline - options_.bind_times.margin;
  if (options_.election.retry_period >= open_for) {
    LogLine(
        "retryPeriod is long: binds will wait for renewals, since none is sent later than this "
        "after one")
        .with("ms", std::chrono::duration_cast<milliseconds>(open_for).count())
        .warning();
  }
  elector_.start();
}

void Leadership::on_started_leading() {
  if (ending_) return;
  led_ = true;
  const Origin origin = elector_.election().origin();
  LogLine line("leading");
  line.with("lease", lease_text(options_.election))
      .with("identity", options_.election.identity)
      .with("lease_was_free", text_of(origin));
  hooks_.on_leads(true);
  if (origin != Origin::kCreated) {
    line.info();
    return catch_up_.start();
  }
  const auto wait = unknown_predecessor_time(options_.election);
  line.with("waits_ms_for_unknown_predecessors", wait.count()).info();
  unknown_predecessor_ = loop_.after(wait, [this] {
    unknown_predecessor_.reset();
    catch_up_.start();
  });
}

void Leadership::on_stopped_leading(const std::string& why) {
  stop();
  LogLine(led_ ? "leadership lost" : "standing by no more")
      .with("lease", lease_text(options_.election))
      .with("why", why)
      .error();
  hooks_.on_leads(false);
  hooks_.on_lost(why);
}

void Leadership::on_caught_up() {
  hooks_.on_progress(kReadSource);
  caught_up_ = true;
  decide_if_ready();
}

void Leadership::on_watches_synced() {
  watches_synced_ = true;
  decide_if_ready();
}

void Leadership::decide_if_ready() {
  if (!watches_synced_ || !caught_up_ || std::exchange(told_to_decide_, true)) return;
  hooks_.on_may_decide();
}

void Leadership::release(milliseconds limit, std::function<void()> done) {
  // Otherwise an earlier scheduler may still bind.
  const bool all_settled = led_ && !unknown_predecessor_;
  end();
  const bool led = leads();
  const auto released = [this, led, done = std::move(done)] {
    if (led) {
      LogLine(elector_.election().gave_back()
                  ? "gave the lease back"
                  : "the lease could not be given back; the next leader "
                    "waits for its end")
          .with("lease", lease_text(options_.election))
          .info();
      hooks_.on_leads(false);
    }
    done();
  };
  elector_.release(limit, released, all_settled);
}

void Leadership::stop() {
  end();
  elector_.stop();
}

void Leadership::end() {
  ending_ = true;
  unknown_predecessor_.reset();
  catch_up_.stop();
  gate_.close();
}

}  // namespace sched::live
