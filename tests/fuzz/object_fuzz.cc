// Any bytes as an object of every kind, as a list and as a watch event.
#include "k8s-client/api/decode.h"
#include "k8s-client/api/encode.h"
#include "tests/fuzz/fuzz_target.h"

#include <vector>

namespace {

template <typename T>
void check_fixpoint(k8s::Decoder& decoder, const T& object) {
  const auto again = decoder.object<T>(k8s::encode(object));
  fuzz::require(again && *again == object, "an encoded object decodes to the same");
}

template <typename T>
void check_object(k8s::Decoder& decoder, std::string_view text) {
  const auto object = decoder.object<T>(text);
  if (object) {
    check_fixpoint(decoder, *object);
  } else {
    fuzz::require(!object.error().message.empty(), "an error says something");
  }
}

template <typename T>
void check_list(k8s::Decoder& decoder, std::string_view text) {
  std::vector<T> items;
  const auto page = decoder.list<T>(text, [&](T item) { items.push_back(std::move(item)); });
  fuzz::require(page || !page.error().message.empty(), "an error says something");
  for (const T& item : items) check_fixpoint(decoder, item);
}

template <typename T>
void check_event(k8s::Decoder& decoder, std::string_view text) {
  const auto event = decoder.watch_event<T>(text);
  if (!event) {
    fuzz::require(!event.error().message.empty(), "an error says something");
    return;
  }
  const bool has_object =
      event->type != k8s::WatchEventType::kBookmark && event->type != k8s::WatchEventType::kError;
  if (has_object && !event->unreadable) check_fixpoint(decoder, event->object);
}

}  // namespace

void fuzz_one_input(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::as_text(data, size);
  static k8s::Decoder decoder;  // used again, as by its callers
#define CHECK_OBJECT(T) check_object<k8s::T>(decoder, text)
  K8S_EACH_KIND(CHECK_OBJECT);
#undef CHECK_OBJECT
  check_list<k8s::Pod>(decoder, text);
  check_event<k8s::Pod>(decoder, text);
  check_list<k8s::Node>(decoder, text);
  check_event<k8s::Node>(decoder, text);
  const auto status = decoder.status(text);
  fuzz::require(status || !status.error().message.empty(), "an error says something");
}
