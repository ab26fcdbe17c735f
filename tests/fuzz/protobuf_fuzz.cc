// Any bytes as a pod, a page of a list, an event of a watch and a Status in protobuf, which is what
// the API server sends most of. Its corpus is of tests/k8s-client/api/protobuf/pods.txt.
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "k8s-client/api/protobuf/documents.h"
#include "tests/fuzz/fuzz_target.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

// In protobuf a map may have a key twice, which no API server sends; in JSON the last value counts.
void keep_last(k8s::ResourceList& list) {
  std::map<std::string, std::size_t> places;
  std::size_t kept = 0;
  for (auto& [name, amount] : list) {
    const auto [at, is_new] = places.emplace(name, kept);
    if (is_new) {
      list[kept++] = {name, amount};
    } else {
      list[at->second].second = amount;
    }
  }
  list.resize(kept);
}

void keep_last(std::optional<k8s::ResourceList>& list) {
  if (list) keep_last(*list);
}

void keep_last(k8s::Pod& pod) {
  for (auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (k8s::Container& each : *containers) {
      keep_last(each.requests);
      keep_last(each.limits);
    }
  }
  for (auto* statuses : {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    for (k8s::ContainerStatus& each : *statuses) {
      keep_last(each.requests);
      keep_last(each.allocated_resources);
    }
  }
  keep_last(pod.spec.overhead);
  keep_last(pod.spec.resource_requests);
  keep_last(pod.spec.resource_limits);
  keep_last(pod.status.resource_requests);
  keep_last(pod.status.allocated_resources);
}

// A pod is the same however it travels: what is read from protobuf can be written and read as JSON.
void check_fixpoint(k8s::Pod pod) {
  keep_last(pod);
  static k8s::Decoder decoder;  // used again, as by its callers
  const auto again = decoder.object<k8s::Pod>(k8s::encode(pod));
  fuzz::require(again && *again == pod, "a pod from protobuf is the same in JSON");
}

template <typename Answer>
void check_error(const Answer& answer) {
  fuzz::require(answer || !answer.error().message.empty(), "an error says something");
}

void check_event(std::string_view bytes) {
  const auto event = k8s::protobuf::event<k8s::Pod>(bytes);
  check_error(event);
  if (!event || event->type == k8s::WatchEventType::kBookmark ||
      event->type == k8s::WatchEventType::kError) {
    return;
  }
  if (!event->unreadable) check_fixpoint(event->object);
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::as_text(data, size);
  (void)k8s::protobuf::is_document(bytes);
  const auto pod = k8s::protobuf::object<k8s::Pod>(bytes);
  check_error(pod);
  if (pod) check_fixpoint(*pod);
  std::vector<k8s::Pod> items;
  check_error(k8s::protobuf::list<k8s::Pod>(
      bytes, [&](k8s::Pod item) { items.push_back(std::move(item)); }));
  for (const k8s::Pod& item : items) check_fixpoint(item);
  check_event(bytes);
  check_error(k8s::protobuf::status(bytes));
}
