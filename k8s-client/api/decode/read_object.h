// The result of reading one object, and how it is passed to the reader of a list.
#pragma once

#include "k8s-client/api/decode.h"

#include <functional>
#include <optional>
#include <utility>

namespace k8s {

template <typename T>
struct ReadObject {
  T object;                    // the parts that could be read
  std::optional<Error> error;  // why that is not everything
};

// Passes an item of a list to `each`, or to `unreadable` if it can be put aside. False if it
// cannot: then `error` has the reason, unless it already had one.
template <typename T>
bool deliver(ReadObject<T> item, const std::function<void(T)>& each,
             const std::function<void(T, Error)>& unreadable, std::optional<Error>& error) {
  if (!item.error) {
    each(std::move(item.object));
    return true;
  }
  if (unreadable && is_identified(item.object.metadata)) {
    unreadable(std::move(item.object), *std::move(item.error));
    return true;
  }
  if (!error) error = std::move(item.error);
  return false;
}

}  // namespace k8s
