// Puts questions to the engine's thread. The answers come back as calls on the asker's own event
// loop.
//
// Only a limited number of its questions is open at a time, so that askers of one kind do not crowd
// out those of another; and fewer of one account, so that no account crowds out the others. Each
// question waits only for a limited time. The engine's thread never computes an answer that is not
// needed any more: its client has gone, its time is up, or the asker no longer exists.
#pragma once

#include "k8s-client/http/event_loop.h"
#include "scheduler/live/questions/question_queue.h"

#include <tl/expected.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace sched::live {

// Calls back with how old the state of the cluster is about which the engine answers: since when
// the watches of pods and nodes were last known to be current; nullopt: that is not known.
using FindDataAge =
    std::function<void(std::function<void(std::optional<std::chrono::nanoseconds>)>)>;

// On its loop's thread.
class Asker {
 public:
  struct Limits {
    std::size_t open = 32;
    std::size_t open_of_account = 4;
    std::chrono::milliseconds patience{5'000};
  };
  // Puts a question before the engine's thread (EngineThread::ask). Called on the loop's thread.
  using Put = std::function<void(Question)>;
  // The client of a question.
  struct Client {
    std::string account;                   // its open questions are counted together
    std::weak_ptr<const void> connection;  // the answer is needed while this exists
  };

  // `loop` must outlive it. `leader`: the identity of another replica that leads; empty: there is
  // none that is known.
  Asker(
      k8s::EventLoop& loop, Put put, Limits limits,
      std::function<std::string()> leader = [] { return std::string(); });
  ~Asker();
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  // `question` is called with the engine on the engine's thread, so it must own everything that it
  // uses. `done` is called once, with the result or with the reason why there is none: at once if
  // too many questions are open, otherwise from the loop. It is not called after the client has
  // gone.
  template <typename Ask, typename Done>
  void ask(Ask question, Client client, Done done) {
    using Answer = std::invoke_result_t<Ask, const Engine&>;
    const auto answer = std::make_shared<std::optional<Answer>>();
    put([answer, question = std::move(question)](
            const Engine& engine) { answer->emplace(question(engine)); },
        std::move(client),
        [answer, done = std::move(done)](std::optional<Unanswered> why) {
          using Result = tl::expected<Answer, Unanswered>;
          done(why ? Result(tl::unexpected(*why)) : Result(*std::move(*answer)));
        });
  }

  // The identity of the replica that leads, if it is another one; empty: it is not known.
  [[nodiscard]] std::string leader() const { return leader_(); }

 private:
  using Done = std::function<void(std::optional<Unanswered>)>;
  struct Way;  // back to the loop
  struct Open {
    Done done;
    Client client;
    std::shared_ptr<const bool> wanted;  // expires with this
    std::unique_ptr<k8s::Timer> patience;
  };

  void put(std::function<void(const Engine&)> question, Client client, Done done);
  void end(std::uint64_t number, std::optional<Unanswered> why);

  k8s::EventLoop& loop_;
  const Put put_;
  const Limits limits_;
  const std::function<std::string()> leader_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Open> open_;
  std::shared_ptr<Way> way_;
};

}  // namespace sched::live
