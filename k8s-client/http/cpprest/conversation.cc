#include "k8s-client/http/cpprest/conversation.h"

#include "k8s-client/http/cpprest/body_sink.h"

#include <string>
#include <utility>

namespace k8s::http {
namespace {

// Bytes that cpprestsdk keeps at their address until the last owner of this is gone.
struct Borrowed {
  Borrowed(std::string_view text, pplx::task_completion_event<std::size_t> event)
      : bytes(text), taken(std::move(event)) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { taken.set(bytes.size()); }

  const std::string_view bytes;
  const pplx::task_completion_event<std::size_t> taken;
};

Response head_of(const sdk::http_response& response) {
  Response head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) head.headers.emplace_back(name, value);
  return head;
}

HttpVersion version_of(const sdk::http_response& response) {
  const auto version = response._get_impl()->http_version();
  return {.major = version.major, .minor = version.minor};
}

}  // namespace

void Conversation::begin(sdk::http_client& client, sdk::http_request request) {
  request.set_response_stream(
      make_body_sink([self = shared_from_this()](std::string_view bytes, const auto& taken) {
        self->on_bytes(bytes, taken);
      }));
  client.request(std::move(request), cancellation_.get_token())
      .then([self = shared_from_this()](const Answered& answered) { self->on_head(answered); });
}

void Conversation::abandon() {
  {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }
  // On cpprestsdk's thread, the only one that uses its sockets.
  sdk::post([cancellation = cancellation_] { cancellation.cancel(); });
}

void Conversation::on_head(const Answered& answered) {
  sdk::http_response response;
  try {
    response = answered.get();
  } catch (...) {
    return on_failure(std::current_exception());
  }
  deliver_head([head = head_of(response), version = version_of(response)](
                   CpprestConnection& connection) { connection.on_head(head, version); });
  response.content_ready().then(
      [self = shared_from_this()](const Answered& complete) { self->on_end(complete); });
}

void Conversation::on_end(const Answered& answered) {
  try {
    answered.get();
  } catch (...) {
    return on_failure(std::current_exception());
  }
  deliver([](CpprestConnection& connection) { connection.on_complete(); });
}

void Conversation::on_bytes(std::string_view bytes,
                            const pplx::task_completion_event<std::size_t>& taken) {
  Task task = [borrowed = std::make_shared<Borrowed>(bytes, taken)](CpprestConnection& connection) {
    connection.on_body(borrowed->bytes);
  };
  {
    const std::lock_guard lock(mutex_);
    if (!head_is_out_) return before_head_.swap(task);
  }
  deliver(std::move(task));
}

void Conversation::on_failure(const std::exception_ptr& failure) {
  std::string why;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "unknown";
  }
  deliver([why](CpprestConnection& connection) { connection.on_broken(why); });
}

void Conversation::deliver_head(Task head) {
  deliver(std::move(head));
  Task body;
  {
    const std::lock_guard lock(mutex_);
    head_is_out_ = true;
    before_head_.swap(body);
  }
  if (body) deliver(std::move(body));
}

void Conversation::deliver(Task task) {
  const std::lock_guard lock(mutex_);
  if (loop_ == nullptr) return;
  loop_->post([self = shared_from_this(), task = std::move(task)] {
    // Abandoned on this same thread, so no lock is needed to see it.
    const auto connection = self->connection_.lock();
    if (self->loop_ != nullptr && connection) task(*connection);
  });
}

}  // namespace k8s::http
