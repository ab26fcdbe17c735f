// Several candidates, one server, and everything that can go wrong between them: requests and
// answers are late or lost, processes stop and go on, clocks go at different speeds. Whatever
// happens, no two of them may claim the lease at one moment, and one leads again once all faults
// are over.
#include "k8s-client/leader_election/election.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace k8s {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

// The time of the simulation, which no candidate can read.
using WorldTime = milliseconds;

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) begin_candidate();
  }

  // Lets `time` pass; `trouble` of a thousand messages are lost, and so on.
  void run(WorldTime time, int trouble) {
    trouble_ = trouble;
    const WorldTime end = now_ + time;
    while (!events_.empty() && events_.begin()->first <= end) {
      now_ = events_.begin()->first;
      const auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
      check_claims();
    }
    now_ = end;
    check_claims();
  }

  [[nodiscard]] bool somebody_leads() const { return claims() == 1; }
  [[nodiscard]] int changes() const { return changes_; }

 private:
  struct Candidate {
    std::string identity;
    double speed = 1;  // of its clock
    Election election;
    WorldTime stopped_until{0};
    std::uint64_t expected = 0;  // the input that it waits for
  };

  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool unlucky() { return below(1000) < static_cast<std::size_t>(trouble_); }
  // Mostly some milliseconds, at times many seconds.
  WorldTime delay() { return milliseconds(unlucky() ? below(20'000) : 1 + below(20)); }

  [[nodiscard]] ElectionTime time_of(const Candidate& candidate) const {
    const auto local = std::chrono::duration<double, std::milli>(now_) * candidate.speed;
    return {BootClock::time_point(std::chrono::duration_cast<BootClock::duration>(local)),
            Timestamp(now_)};
  }

  void begin_candidate() {
    ElectionOptions options;
    options.identity = fmt::format("candidate-{}", next_identity_++);
    options.seed = random_();
    // Up to 0.4 % fast or slow: two of them stay within the 1 % that are allowed for.
    const double speed = 0.996 + 0.001 * static_cast<double>(below(9));
    auto candidate = std::make_shared<Candidate>(
        Candidate{.identity = options.identity, .speed = speed, .election = Election(options)});
    candidates_.push_back(candidate);
    take(candidate, candidate->election.start(time_of(*candidate)));
  }

  void later(WorldTime delay, std::function<void()> event) {
    events_.emplace(now_ + delay, std::move(event));
  }

  // An input for a candidate, unless it has ended or something else came first.
  void give(const std::shared_ptr<Candidate>& candidate, WorldTime delay, std::uint64_t turn,
            std::function<ElectionStep(Election&, ElectionTime)> input) {
    later(delay, [=, this] {
      if (candidate->expected != turn) return;
      // A stopped process gets its input when it goes on.
      if (candidate->stopped_until > now_) {
        return give(candidate, candidate->stopped_until - now_, turn, input);
      }
      if (unlucky()) candidate->stopped_until = now_ + milliseconds(below(40'000));
      ++candidate->expected;
      take(candidate, input(candidate->election, time_of(*candidate)));
    });
  }

  void take(const std::shared_ptr<Candidate>& candidate, ElectionStep step) {
    if (candidate->election.state() == Election::State::kEnded) {
      std::erase(candidates_, candidate);
      return later(1s, [this] { begin_candidate(); });
    }
    const auto turn = candidate->expected;
    if (step.wait) {
      give(candidate, *step.wait, turn,
           [](Election& election, ElectionTime now) { return election.waited(now); });
      // Now and then one is asked to go.
      if (below(100) == 0) {
        give(candidate, 1ms, turn,
             [](Election& election, ElectionTime now) { return election.release(now); });
      }
      return;
    }
    if (step.request) send(candidate, std::move(*step.request), turn);
  }

  void send(const std::shared_ptr<Candidate>& candidate, LeaseRequest request, std::uint64_t turn) {
    const WorldTime deadline = request.deadline;
    // Even a request that was given up may arrive.
    later(delay(), [=, this] {
      if (unlucky()) return;
      auto answer = serve(request);
      if (!unlucky()) {
        give(candidate, delay(), turn, [answer](Election& election, ElectionTime now) {
          return election.answered(answer, now);
        });
      }
    });
    give(candidate, deadline, turn, [](Election& election, ElectionTime now) {
      return election.answered(tl::unexpected(Error{.kind = ErrorKind::kTimeout, .message = {}}),
                               now);
    });
  }

  // The API server: one object, changed only at the version it has.
  Result<Lease> serve(const LeaseRequest& request) {
    const auto refused = [](int status) {
      return tl::unexpected(
          Error{.kind = ErrorKind::kStatus, .message = {}, .http_status = status});
    };
    if (unlucky()) return refused(500);
    if (request.kind == LeaseRequest::Kind::kCreate) {
      if (stored_) return refused(409);
    } else {
      if (!stored_) return refused(404);
      if (request.kind == LeaseRequest::Kind::kGet) return *stored_;
      if (request.lease.metadata.resource_version != stored_->metadata.resource_version) {
        return refused(409);
      }
    }
    if (!stored_ || stored_->spec.holder_identity != request.lease.spec.holder_identity) ++changes_;
    stored_ = request.lease;
    stored_->metadata.resource_version = std::to_string(++version_);
    return *stored_;
  }

  [[nodiscard]] int claims() const {
    int claims = 0;
    for (const auto& candidate : candidates_) {
      const Election& election = candidate->election;
      const bool claim = election.state() == Election::State::kLeading &&
                         time_of(*candidate).boot < election.valid_until();
      if (claim) ++claims;
    }
    return claims;
  }
  void check_claims() const {
    // Only a failure is worth a line of the report.
    if (claims() > 1) FAIL("two claim the lease at " << now_.count() << " ms");
  }

  std::mt19937_64 random_;
  WorldTime now_{0};
  int trouble_ = 0;
  std::multimap<WorldTime, std::function<void()>> events_;
  std::vector<std::shared_ptr<Candidate>> candidates_;
  int next_identity_ = 0;
  std::optional<Lease> stored_;
  int version_ = 0;
  int changes_ = 0;
};

TEST_CASE("no two claim the lease at one moment, and somebody leads when all is well",
          "[election]") {
  int changes = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    World world(seed);
    for (const int trouble : {20, 100, 300}) world.run(20min, trouble);
    world.run(2min, 0);
    // One may have been asked to go a moment ago; not for long.
    for (int second = 0; !world.somebody_leads() && second < 30; ++second) world.run(1s, 0);
    CHECK(world.somebody_leads());
    changes += world.changes();
  }
  CHECK(changes > 400);  // else this tested little
}

}  // namespace
}  // namespace k8s
