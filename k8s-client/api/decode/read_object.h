// What reading one object has given, and its way to whoever reads a list.
#pragma once

#include "k8s-client/api/decode.h"

#include <functional>
#include <optional>
#include <utility>

namespace k8s {

template <typename T>
struct ReadObject {
  T object;                    // as much of it as could be read
  std::optional<Error> error;  // why that is not all
};

// Gives an item of a list to `each`, or to `unreadable` where it is one that can be put aside.
// False where it cannot: then `error`, unless there is one already, says why.
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
