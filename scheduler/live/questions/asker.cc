#include "scheduler/live/questions/asker.h"

#include <algorithm>
#include <mutex>

namespace sched::live {

// Shared with questions that are under way. The engine's thread locks it while it uses the asker's
// loop, so the asker cannot be destroyed meanwhile.
struct Asker::Way {
  std::mutex mutex;
  Asker* asker;  // nullptr when it is gone; only its loop's thread calls it
};

Asker::Asker(k8s::EventLoop& loop, Put put, Limits limits, std::function<std::string()> leader)
    : loop_(loop),
      put_(std::move(put)),
      limits_(limits),
      leader_(std::move(leader)),
      way_(std::make_shared<Way>()) {
  way_->asker = this;
}

Asker::~Asker() {
  const std::lock_guard lock(way_->mutex);
  way_->asker = nullptr;
}

void Asker::put(std::function<void(const Engine&)> question, Client client, Done done) {
  std::erase_if(open_, [](const auto& open) { return open.second.client.connection.expired(); });
  const auto of_account = std::count_if(open_.begin(), open_.end(), [&](const auto& open) {
    return open.second.client.account == client.account;
  });
  if (open_.size() >= limits_.open ||
      static_cast<std::size_t>(of_account) >= limits_.open_of_account) {
    return done(Unanswered::kTooMany);
  }
  const std::uint64_t number = ++last_number_;
  const auto wanted = std::make_shared<const bool>(true);
  const auto back = [way = way_, number](std::optional<Unanswered> why) {
    const std::lock_guard lock(way->mutex);
    if (way->asker == nullptr) return;
    way->asker->loop_.post([way, number, why] {
      if (way->asker != nullptr) way->asker->end(number, why);
    });
  };
  open_[number] = {.done = std::move(done),
                   .client = client,
                   .wanted = wanted,
                   .patience = loop_.after(limits_.patience,
                                           [this, number] { end(number, Unanswered::kTooLate); })};
  put_({.answer =
            [back, question = std::move(question)](const Engine& engine) {
              question(engine);
              back(std::nullopt);
            },
        .refuse = [back](Unanswered why) { back(why); },
        .is_wanted =
            [connection = std::move(client.connection), open = std::weak_ptr(wanted)] {
              return !connection.expired() && !open.expired();
            }});
}

void Asker::end(std::uint64_t number, std::optional<Unanswered> why) {
  const auto ended = open_.extract(number);
  if (!ended.empty() && !ended.mapped().client.connection.expired()) ended.mapped().done(why);
}

}  // namespace sched::live
