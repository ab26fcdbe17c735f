// How many events one object may cause, as in client-go.
//
// Each object has 25 events at once and one more every five minutes: so the API server writes no
// more events than that, even if a user changes one pod a hundred times a second. Source: client-go
// tools/record/events_cache.go, EventSourceObjectSpamFilter.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <string>

namespace k8s {

class EventBudget {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Options {
    int burst = 25;
    std::chrono::seconds refill{300};  // for one more
    std::size_t most_objects = 4'096;  // the objects longest without an event are dropped
  };

  explicit EventBudget(Options options) : options_(options) {}

  // Takes one of the object's events; false if there is none left. O(log objects).
  [[nodiscard]] bool take(const std::string& object, TimePoint now);

 private:
  struct Account {
    std::string object;
    TimePoint full_at;  // when all of its events will be available again
  };

  Options options_;
  std::list<Account> accounts_;  // the most recently used first
  std::map<std::string, std::list<Account>::iterator> by_object_;
};

}  // namespace k8s
