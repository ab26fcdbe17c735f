// What is answered to a request whose question the engine did not answer.
#pragma once

#include "scheduler/live/questions/question_queue.h"
#include "scheduler/server/http_server.h"

namespace sched::live {

[[nodiscard]] server::Reply reply_to(Unanswered why);

}  // namespace sched::live
