// The meaning of a plain (unquoted) YAML scalar: the rules of Kubernetes' own decoder.
//
// sigs.k8s.io/yaml, which reads kubeconfig and kube-scheduler's configuration, follows YAML 1.1
// through go.yaml.in/yaml/v2 (resolve.go): `yes`, `on` and `y` are true, `010` is eight, `1_000` is
// a thousand, `0b11` is three, dates are strings. The same holds here, so that a file means the
// same to both. If that is a surprise (a string field given `no`), ObjectReader reports the type
// instead of guessing. Quoted scalars never come here; they are strings.
#pragma once

#include "k8s-client/yaml/value.h"

#include <optional>
#include <string_view>

namespace k8s::yaml {

// The value of plain `text`: null, boolean, integer, floating-point number or string. Integers
// beyond 64 bits are floating-point numbers, and floating-point numbers out of range are strings,
// as upstream. Nothing for `.inf` and `.nan`, which JSON, and so Kubernetes, cannot express.
[[nodiscard]] std::optional<Value::Data> resolve_plain(std::string_view text);

}  // namespace k8s::yaml
