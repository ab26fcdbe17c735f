// Which text Kubernetes accepts as the name of an object, of a label or resource, and as the value
// of a label.
//
// The API server has checked most of this before. It accepts some values for compatibility (in
// terms of node affinity) that make kube-scheduler skip a term; this scheduler must do the same.
// Source: k8s.io/apimachinery pkg/util/validation.
#pragma once

#include <string_view>

namespace sched {

// A DNS subdomain (RFC 1123) of at most 253 characters: parts of [a-z0-9-] that neither begin nor
// end with '-', joined by dots.
[[nodiscard]] bool is_subdomain(std::string_view text);

// [DOMAIN/]NAME: a DNS subdomain of at most 253 characters, and at most 63 of [A-Za-z0-9-_.],
// alphanumeric at both ends.
[[nodiscard]] bool is_qualified_name(std::string_view text);

// Empty, or like NAME above.
[[nodiscard]] bool is_label_value(std::string_view text);

}  // namespace sched
