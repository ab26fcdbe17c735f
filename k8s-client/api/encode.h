// Plain structs to JSON that Kubernetes, and the decoder here, read as the same object.
//
// decode(encode(x)) == x holds for every struct of this folder that decode() can return. (It never
// returns, for example, a claim with a class that differs from its old annotation.)
#pragma once

#include "k8s-client/api/kinds.h"

#include <string>

namespace k8s {

// T: any kind of kinds.h.
template <typename T>
[[nodiscard]] std::string encode(const T& object);

}  // namespace k8s
