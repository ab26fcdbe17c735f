#include "plugins/node_resources_fit/exact_amount.h"

namespace plugins {

namespace {

std::string bytes_text(std::int64_t bytes) {
  if (bytes == 0) return "0";
  std::string_view unit;
  for (const std::string_view next : {"Ki", "Mi", "Gi", "Ti", "Pi"}) {
    if (bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes).append(unit);
}

}  // namespace

std::string exact_amount(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu") {
    return amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m";
  }
  const bool is_bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  return is_bytes ? bytes_text(amount) : std::to_string(amount);
}

}  // namespace plugins
