// A message in protobuf's wire format being written: what message.h reads, the other way round.
//
// Bytes go straight to the end of one string. A message within a message is written in place, and
// its length put in front when it ends. Field numbers are those of Kubernetes' generated.proto
// files.
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

  // An empty text is left out, which in Kubernetes' messages means the same. What is not UTF-8 is
  // written as read() reads it: each byte that does not belong is U+FFFD.
  void text(std::uint32_t field, std::string_view text);
  void number(std::uint32_t field, std::int64_t value);
  // metav1.MicroTime.
  void micro_time(std::uint32_t field, Timestamp time);
  // An entry for each pair.
  void map(std::uint32_t field, const StringMap& entries);

  // Whatever `fill` writes, as one message.
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
