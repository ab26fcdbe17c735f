// The reply to a request with a question that the engine did not answer.
#pragma once

#include "scheduler/live/questions/question_queue.h"
#include "scheduler/server/http_server.h"

#include <string>

namespace sched::live {

// `leader`: the identity of the replica that leads; empty: it is not known.
[[nodiscard]] server::Reply reply_to(Unanswered why, const std::string& leader);

}  // namespace sched::live
