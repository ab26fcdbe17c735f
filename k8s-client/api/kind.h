// What Kubernetes calls a kind of objects, and where the API server has them.
//
// The struct of each kind says it in its member kKind. How objects are decoded, encoded, listed and
// watched follows from it, for the kinds that kinds.h names.
#pragma once

#include <string>
#include <string_view>

namespace k8s {

// The group in an apiVersion: "storage.k8s.io" in "storage.k8s.io/v1". Empty: Kubernetes' core.
constexpr std::string_view api_group(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

inline constexpr bool kNamespaced = true;

struct ObjectKind {
  std::string_view name;         // "CSINode"
  std::string_view api_version;  // "storage.k8s.io/v1"; of Kubernetes' core only "v1"
  std::string_view plural;       // "csinodes"
  bool namespaced = false;

  // All of them: "/apis/storage.k8s.io/v1/csinodes".
  [[nodiscard]] std::string path() const { return api_path().append("/").append(plural); }
  // "/apis/storage.k8s.io/v1"
  [[nodiscard]] std::string api_path() const {
    return std::string(api_group(api_version).empty() ? "/api/" : "/apis/").append(api_version);
  }
};

}  // namespace k8s
