// Writes a message in protobuf's wire format, the counterpart of message.h.
//
// Bytes are appended to one string. A message within a message is written in place, and its length
// is inserted before it at its end. Field numbers are those of Kubernetes' generated.proto files.
//
// Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include "k8s-client/api/meta.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s::protobuf {

class Writer {
 public:
  // Appends to `out`, which must outlive it.
  explicit Writer(std::string& out) : out_(out) {}

  // An empty text is left out, which means the same in Kubernetes' messages. Text that is not UTF-8
  // is written as read() reads it: each byte that does not belong to a character becomes U+FFFD.
  void text(std::uint32_t field, std::string_view text);
  void number(std::uint32_t field, std::int64_t value);
  // metav1.MicroTime.
  void micro_time(std::uint32_t field, Timestamp time);
  // An entry for each pair.
  void map(std::uint32_t field, const StringMap& entries);

  // What `fill` writes, as one message.
  template <typename Fill>
  void message(std::uint32_t field, const Fill& fill) {
    const std::size_t begin = open(field);
    fill();
    close(begin);
  }

 private:
  [[nodiscard]] std::size_t open(std::uint32_t field);
  void close(std::size_t begin);

  std::string& out_;
};

}  // namespace k8s::protobuf
