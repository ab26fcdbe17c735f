// What a plain (unquoted) YAML scalar means: the rules of Kubernetes' own decoder.
//
// sigs.k8s.io/yaml, which reads kubeconfig and kube-scheduler's configuration, follows YAML 1.1 by
// way of go.yaml.in/yaml/v2 (resolve.go): `yes`, `on` and `y` are true, `010` is eight, `1_000` is
// a thousand, `0b11` is three, dates are strings. So do we: a file must mean the same to both.
// Where that surprises (a string field given `no`), ObjectReader complains about the type instead
// of guessing. Quoted scalars never come here; they are strings.
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
