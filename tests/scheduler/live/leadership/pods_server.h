// An API server of pods inside a test: answers lists, streamed or not, and keeps count.
#pragma once

#include "k8s-client/api/encode.h"
#include "tests/support/builders.h"
#include "tests/support/fake_transport.h"

#include <memory>
#include <string>
#include <vector>

namespace tests {

class PodsServer {
 public:
  explicit PodsServer(ManualLoop& loop) : transport(loop) {
    transport.serve([this](const std::shared_ptr<FakeCall>& call) { answer(call); });
  }

  FakeTransport transport;
  std::vector<k8s::Pod> pods;  // what a read finds, whatever its selector
  bool silent = false;         // reads hang
  int refuse_next = 0;         // so many reads are answered 500

  [[nodiscard]] std::size_t reads() const { return transport.seen().size(); }

 private:
  void answer(const std::shared_ptr<FakeCall>& call) {
    if (silent) return;
    if (refuse_next > 0) {
      --refuse_next;
      return call->respond(500, "{}");
    }
    if (!call->is_stream()) return call->respond(200, list());
    call->open();
    for (k8s::Pod pod : pods) {
      pod.metadata.resource_version = "7";
      call->send(R"({"type":"ADDED","object":)" + k8s::encode(pod) + "}\n");
    }
    call->send(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
               R"({"k8s.io/initial-events-end":"true"}}}})"
               "\n");
  }

  [[nodiscard]] std::string list() const {
    std::string items;
    for (const k8s::Pod& pod : pods) items += (items.empty() ? "" : ",") + k8s::encode(pod);
    return R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}";
  }
};

}  // namespace tests
