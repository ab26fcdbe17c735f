#include "scheduler/live/questions/unanswered.h"

namespace sched::live {

using server::text_reply;

server::Reply reply_to(Unanswered why, const std::string& leader) {
  switch (why) {
    case Unanswered::kTooMany:
      return text_reply(429,
                        "as many questions as may be are open already; ask again in a moment\n");
    case Unanswered::kNotDeciding:
      if (!leader.empty()) {
        return text_reply(503, "this replica decides nothing: \"" + leader +
                                   "\" holds the lease; ask that one\n");
      }
      return text_reply(
          503,
          "this replica decides nothing: it does not know the cluster yet, or another "
          "one holds the lease; ask that one\n");
    case Unanswered::kTooLate:
      return text_reply(503,
                        "the engine did not come to it in time: a tenth of its time is for "
                        "questions; ask again in a moment\n");
    case Unanswered::kEnded:
      break;
  }
  return text_reply(503, "the process is shutting down\n");
}

}  // namespace sched::live
