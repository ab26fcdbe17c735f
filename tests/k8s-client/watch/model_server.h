// An API server of one kind of object, with all the faults a real one and its network have.
//
// It keeps its whole history, so that it can answer as a lagging replica would: a list "not older
// than" some version shows the state at any version since then, a watch may lag behind. Faults come
// by a seeded chance: refused connections, 429, 500, 410 and "too large" in all places, streams
// that break anywhere within a line, answers that are no JSON.
#pragma once

#include "tests/support/fake_transport.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace tests {

class ModelServer {
 public:
  struct Object {
    std::string uid;
    int version = 0;
    friend bool operator==(const Object&, const Object&) = default;
  };
  using Objects = std::map<std::string, Object>;  // by name

  explicit ModelServer(std::uint64_t seed, bool knows_streamed_lists)
      : random_(seed), knows_streamed_lists_(knows_streamed_lists) {}

  // Answers `call`, now or through later calls of push().
  void serve(const std::shared_ptr<FakeCall>& call);

  // Creates, changes, deletes or replaces an object.
  void change_something();

  // Sends open watches some of what they have not seen, or breaks them off.
  void push();

  // Forgets history: older versions are 410 from now on.
  void compact() { compacted_ = version(); }

  void stop_faults() { faults_ = false; }

  [[nodiscard]] const Objects& objects() const { return objects_; }
  // How many faults of which kind were played, so that a test knows that they were.
  [[nodiscard]] const std::map<std::string, int>& faults() const { return played_; }

 private:
  struct Change {
    std::string type;
    std::string name;
    Object object;
  };
  struct Watch {
    std::shared_ptr<FakeCall> call;
    int sent_up_to = 0;
  };
  struct Snapshot {  // what a continue token stands for
    int version = 0;
    std::string after;
  };

  [[nodiscard]] int version() const { return static_cast<int>(history_.size()); }
  [[nodiscard]] Objects state_at(int version) const;
  [[nodiscard]] bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  [[nodiscard]] int between(int low, int high);
  bool play_fault(const std::shared_ptr<FakeCall>& call);
  void list(const std::shared_ptr<FakeCall>& call, const std::map<std::string, std::string>& query);
  void watch(const std::shared_ptr<FakeCall>& call, int from);
  void stream_list(const std::shared_ptr<FakeCall>& call, const std::string& not_older_than);
  void refuse(const std::shared_ptr<FakeCall>& call, int code, const std::string& reason,
              const std::string& message);
  void record(const std::string& type, const std::string& name, Object object);
  std::string lines_since(Watch& watch);

  std::mt19937_64 random_;
  const bool knows_streamed_lists_;
  bool faults_ = true;
  Objects objects_;
  std::vector<Change> history_;  // change i makes version i + 1
  int compacted_ = 0;
  int next_uid_ = 1;
  int next_token_ = 1;
  std::map<std::string, Snapshot> tokens_;
  std::vector<Watch> watches_;
  std::map<std::string, int> played_;
};

}  // namespace tests
