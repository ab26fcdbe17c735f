#include "scheduler/live/writes/quota_memory.h"

#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sched::live {
namespace {

using std::chrono::milliseconds;

// Of the MiB that an object may have; the rest is for everything around the entries.
constexpr std::size_t kMostBytes = 900'000;

std::vector<k8s::GpuQuota> quotas_in(const std::optional<k8s::ConfigMap>& map) {
  std::vector<k8s::GpuQuota> quotas;
  if (!map) return quotas;
  k8s::Decoder decoder;
  for (const auto& [name, text] : map->data) {
    auto quota = decoder.object<k8s::GpuQuota>(text);
    if (quota && quota->metadata.name == name) quotas.push_back(std::move(*quota));
  }
  return quotas;
}

k8s::StringMap data_of(const std::vector<k8s::GpuQuota>& quotas) {
  std::vector<k8s::StringMap::Entry> data;
  std::size_t bytes = 0;
  for (const bool deleted : {true, false}) {
    for (const k8s::GpuQuota& quota : quotas) {
      if (quota.metadata.deletion_timestamp.has_value() != deleted) continue;
      std::string text = k8s::encode(quota);
      bytes += quota.metadata.name.size() + text.size();
      if (bytes > kMostBytes) return k8s::StringMap(std::move(data));
      data.emplace_back(quota.metadata.name, std::move(text));
    }
  }
  return k8s::StringMap(std::move(data));
}

}  // namespace

QuotaMemory::QuotaMemory(k8s::EventLoop& loop, Calls calls, Options options, Hooks hooks)
    : loop_(loop),
      calls_(std::move(calls)),
      options_(options),
      hooks_(std::move(hooks)),
      back_off_(1, options.back_off) {}

void QuotaMemory::read(std::function<void(std::vector<k8s::GpuQuota>)> done) {
  busy_ = true;
  get([this, done = std::move(done)] {
    busy_ = false;
    done(quotas_in(there_));
    write();
  });
}

void QuotaMemory::want(const std::vector<k8s::GpuQuota>& quotas) {
  wanted_ = data_of(quotas);
  write();
}

void QuotaMemory::get(Then then) {
  if (stopped_) return;
  calls_.get([this, alive = alive_, then = std::move(then)](auto answer) {
    if (*alive) on_got(std::move(answer), then);
  });
}

void QuotaMemory::on_got(k8s::Result<k8s::ConfigMap> answer, const Then& then) {
  if (stopped_) return;
  there_.reset();
  if (answer) {
    there_ = std::move(*answer);
  } else if (answer.error().is_status(403)) {
    return on_refused(answer.error(), then);
  } else if (!answer.error().is_not_found()) {
    return retry(answer.error(), [this, then] { get(then); });
  }
  refused_since_.reset();
  // If a write follows, this says nothing: one has failed, and the next one may fail, too.
  if (!wanted_ || is_written()) {
    back_off_.reset();
    hooks_.on_answered();
  }
  then();
}

void QuotaMemory::on_refused(const k8s::Error& error, const Then& then) {
  const auto now = loop_.now();
  if (!refused_since_) refused_since_ = now;
  const auto left = std::chrono::ceil<milliseconds>(*refused_since_ + options_.refused_after - now);
  if (left <= milliseconds(0)) {
    hooks_.on_problem(error, {});
    return then();
  }
  const milliseconds delay = std::min(back_off_.next(now, error.retry_after), left);
  hooks_.on_problem(error, delay);
  pause(delay, [this, then] { get(then); });
}

bool QuotaMemory::is_written() const {
  return there_ ? there_->data == *wanted_ : wanted_->empty();
}

void QuotaMemory::write() {
  if (stopped_ || busy_ || !wanted_ || is_written()) return;
  busy_ = true;
  const auto done = [this, alive = alive_](auto answer) {
    if (*alive) on_written(std::move(answer));
  };
  if (!there_) return calls_.create(*wanted_, done);
  k8s::ConfigMap now = *there_;
  now.data = *wanted_;
  calls_.update(now, done);
}

void QuotaMemory::on_written(k8s::Result<k8s::ConfigMap> answer) {
  if (stopped_) return;
  const auto go_on = [this] {
    busy_ = false;
    write();
  };
  if (answer) {
    there_ = std::move(*answer);
    back_off_.reset();
    hooks_.on_answered();
    return pause(options_.interval, go_on);
  }
  // The object was written or deleted elsewhere; or the outcome of the write is not known.
  const auto anew = [this, go_on] { get(go_on); };
  const bool gone = there_ && answer.error().is_not_found();
  if (gone || answer.error().is_status(409)) return pause(options_.interval, anew);
  retry(answer.error(), anew);
}

void QuotaMemory::pause(milliseconds delay, Then then) {
  pause_ = loop_.after(delay, [then = std::move(then)] { then(); });
}

void QuotaMemory::retry(const k8s::Error& error, Then then) {
  const auto delay = back_off_.next(loop_.now(), error.retry_after);
  hooks_.on_problem(error, delay);
  pause(delay, std::move(then));
}

}  // namespace sched::live
