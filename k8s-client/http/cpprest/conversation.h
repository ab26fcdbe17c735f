// One request through cpprestsdk, and its results on their way to the loop.
//
// It begins and is abandoned on the loop; everything else happens on cpprestsdk's thread. After
// abandon() nothing reaches the loop any more, which may then be destroyed.
#pragma once

#include "k8s-client/http/cpprest/cpprest_connection.h"
#include "k8s-client/http/cpprest/sdk.h"
#include "k8s-client/http/event_loop.h"

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

namespace k8s::http {

class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  Conversation(EventLoop& loop, std::weak_ptr<CpprestConnection> connection)
      : loop_(&loop), connection_(std::move(connection)) {}
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() = default;

  void begin(sdk::http_client& client, sdk::http_request request);
  // Breaks the connection off, and makes no more calls.
  void abandon();

 private:
  using Answered = pplx::task<sdk::http_response>;
  using Task = std::function<void(CpprestConnection&)>;

  void on_head(const Answered& answered);
  void on_end(const Answered& answered);
  void on_bytes(std::string_view bytes, const pplx::task_completion_event<std::size_t>& taken);
  void on_failure(const std::exception_ptr& failure);
  // Runs `task` on the loop, unless the conversation has been abandoned by then.
  void deliver(Task task);
  void deliver_head(Task head);

  const sdk::InUse in_use_;
  std::mutex mutex_;
  EventLoop* loop_;  // nullptr: abandoned
  // http_client may have read some of the body before it reports the head; at most one piece,
  // because it waits until that is taken.
  bool head_is_out_ = false;
  Task before_head_;
  const std::weak_ptr<CpprestConnection> connection_;
  pplx::cancellation_token_source cancellation_;
};

}  // namespace k8s::http
