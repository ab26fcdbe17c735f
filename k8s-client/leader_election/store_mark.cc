#include "k8s-client/leader_election/store_mark.h"

#include <fmt/format.h>

#include <utility>

namespace k8s {

using std::chrono::milliseconds;

namespace {

constexpr const char* kWhat = "the lease that marks the store's time";
constexpr const char* kMaybeDeleted =
    "its store has gone back in time, as when etcd is restored from a backup, or the lease was "
    "deleted";

// More than one, because the first write comes right after a read. Another process that shares the
// mark writes within the period that follows. And so many, because a process that ended without a
// word may have begun a write just before: three periods later that cannot be carried out any more.
constexpr int kWritesAlone = 4;

}  // namespace

StoreMark::StoreMark(Client& client, EventLoop& loop, Options options, Hooks hooks,
                     std::function<Timestamp()> wall_clock)
    : client_(client),
      loop_(loop),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      wall_clock_(std::move(wall_clock)) {}

void StoreMark::stop() {
  stopped_ = true;
  timer_.reset();
  give_back_limit_.reset();
}

void StoreMark::give_back(milliseconds limit, std::function<void()> done) {
  given_back_ = std::move(done);
  give_back_limit_ = loop_.after(limit, [this] { finish_giving_back(); });
  if (!asking_) write_given_back();
}

bool StoreMark::is_alone() const {
  return writes_in_a_row_ >= (found_given_back_ ? 1 : kWritesAlone);
}

void StoreMark::write_given_back() {
  timer_.reset();
  if (!is_alone()) return finish_giving_back();
  lease_.spec.holder_identity.clear();
  lease_.spec.renew_time = wall_clock_();
  client_.update_lease(lease_, kDeadline, [this, alive = alive_](const Result<Lease>&) {
    if (*alive && !stopped_) finish_giving_back();
  });
}

// After the caller's present call, which may be give_back().
void StoreMark::finish_giving_back() {
  stop();
  loop_.post([alive = alive_, done = std::exchange(given_back_, nullptr)] {
    if (*alive && done) done();
  });
}

void StoreMark::read() {
  asking_ = true;
  client_.get_lease(options_.namespace_, options_.name, kDeadline, then(&StoreMark::on_read));
}

void StoreMark::write() {
  const bool is_new = lease_.metadata.resource_version.empty();
  if (is_new) {
    lease_.metadata = {};
    lease_.metadata.namespace_ = options_.namespace_;
    lease_.metadata.name = options_.name;
    lease_.spec.acquire_time = wall_clock_();
  }
  lease_.spec.holder_identity = options_.identity;
  lease_.spec.lease_duration_seconds = 1;
  lease_.spec.renew_time = wall_clock_();
  asking_ = true;
  auto done = then(&StoreMark::on_written);
  if (is_new) return client_.create_lease(lease_, kDeadline, std::move(done));
  client_.update_lease(lease_, kDeadline, std::move(done));
}

void StoreMark::on_read(Result<Lease> answer) {
  if (answer) {
    const std::string& holder = answer->spec.holder_identity;
    if (holder != options_.identity) {
      found_given_back_ = holder.empty();
      writes_in_a_row_ = 0;
    }
    if (!accept(std::move(*answer))) return;
    return is_refused() ? on_failed(refusal_) : write();
  }
  if (!answer.error().is_not_found()) return on_failed(answer.error());
  if (!lease_.metadata.resource_version.empty()) {
    return went_back(fmt::format("{} is gone: {}", kWhat, kMaybeDeleted));
  }
  is_refused() ? on_failed(refusal_) : write();
}

void StoreMark::on_written(Result<Lease> answer) {
  if (answer) {
    if (!accept(std::move(*answer))) return;
    hooks_.on_written();
    ++writes_in_a_row_;
    if (!std::exchange(claimed_, true)) hooks_.on_claimed(found_given_back_);
    return again(options_.period, &StoreMark::write);
  }
  const bool was_there = !lease_.metadata.resource_version.empty();
  // Another client has written or deleted it, or the store was set back, or an earlier write of
  // this process was carried out although its answer was lost.
  if (answer.error().is_status(409) || (answer.error().is_status(404) && was_there)) {
    refused_at_ = lease_.metadata.resource_version;
    refusal_ = answer.error();
    return read();
  }
  on_failed(answer.error());
}

// A write that was refused from the beginning is refused until an administrator changes something.
// After any other failure the next try may succeed.
void StoreMark::on_failed(const Error& error) {
  refused_at_.reset();
  const bool is_new = lease_.metadata.resource_version.empty();
  const bool refused = is_new && (error.is_status(403) || error.is_not_found());
  const milliseconds wait = refused ? kAfterRefusal : options_.period;
  hooks_.on_problem(error, wait);
  if (!stopped_) again(wait, &StoreMark::read);
}

bool StoreMark::accept(Lease lease) {
  const std::string& uid = lease_.metadata.uid;
  auto why = newest_.seen(lease.metadata, kWhat);
  if (!why && !uid.empty() && lease.metadata.uid != uid) {
    why = fmt::format("{} is another one: {}", kWhat, kMaybeDeleted);
  }
  if (why) {
    went_back(*why);
    return false;
  }
  lease_ = std::move(lease);
  return true;
}

void StoreMark::went_back(const std::string& why) {
  stop();
  hooks_.on_went_back(why);
}

void StoreMark::again(milliseconds after, void (StoreMark::*next)()) {
  timer_ = loop_.after(after, [this, next] { (this->*next)(); });
}

std::function<void(Result<Lease>)> StoreMark::then(void (StoreMark::*answered)(Result<Lease>)) {
  return [this, alive = alive_, answered](Result<Lease> answer) {
    if (!*alive || stopped_) return;
    asking_ = false;
    (this->*answered)(std::move(answer));
    if (given_back_ && !asking_ && !stopped_) write_given_back();
  };
}

}  // namespace k8s
