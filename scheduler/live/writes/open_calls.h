// How many calls of a kind are open, and of which namespaces, and whether one more may be sent.
//
// Calls of one namespace may hang, for example because of a webhook, and must not delay those of
// others. So a namespace may have as many calls open as are not open at all: half of them if it is
// alone, and calls that all hang, in n namespaces, leave 1 / (n + 1) of the calls to others. Source
// as in bind_queue.h, which does more: a bind that is not answered may still be carried out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sched::live {

class OpenCalls {
 public:
  explicit OpenCalls(std::size_t most) : most_(most) {}

  [[nodiscard]] bool may_open(const std::string& namespace_) const {
    const auto found = of_.find(namespace_);
    return (found == of_.end() ? 0 : found->second) < most_ - open_;
  }
  // Takes the first call out of `waiting` that may be sent; nullopt: none may be.
  // `namespace_of(call)`.
  template <typename Call, typename NamespaceOf>
  [[nodiscard]] std::optional<Call> take(std::deque<Call>& waiting,
                                         const NamespaceOf& namespace_of) const {
    if (open_ == most_) return std::nullopt;
    const auto first = std::find_if(waiting.begin(), waiting.end(),
                                    [&](const Call& call) { return may_open(namespace_of(call)); });
    if (first == waiting.end()) return std::nullopt;
    std::optional<Call> taken(std::move(*first));
    waiting.erase(first);
    return taken;
  }

  void opened(const std::string& namespace_) {
    ++open_;
    ++of_[namespace_];
  }
  void answered(const std::string& namespace_) {
    --open_;
    const auto found = of_.find(namespace_);
    if (--found->second == 0) of_.erase(found);
  }
  [[nodiscard]] std::size_t size() const { return open_; }

 private:
  const std::size_t most_;
  std::size_t open_ = 0;
  std::map<std::string, std::size_t> of_;  // by namespace; none is 0
};

}  // namespace sched::live
