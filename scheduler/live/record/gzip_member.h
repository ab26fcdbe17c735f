// A piece of a recording as a gzip member: compressed, with its own checksum.
//
// gzip files may follow each other in one file; each such part is a member, with a CRC32 of its
// text. A flight recording is a row of members, so `gunzip` unpacks it, and a damaged member leaves
// the others readable. A field in each member's header marks it as one of ours: where one is
// damaged, the next is found by that mark.
#pragma once

#include "k8s-client/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace sched::live {

[[nodiscard]] std::string gzip_member(std::string_view text);

// `bytes` begin with a member of ours.
[[nodiscard]] bool is_gzip_member(std::string_view bytes);

struct UnpackedMember {
  std::string text;
  std::size_t size = 0;  // of the member, in bytes
};
// Of the member that `bytes` begin with. An error: it is cut off, or its checksum does not fit.
[[nodiscard]] k8s::Result<UnpackedMember> unpack_member(std::string_view bytes);

// Where the next member of ours begins at `from` or behind it; npos: nowhere.
[[nodiscard]] std::size_t find_gzip_member(std::string_view bytes, std::size_t from);

}  // namespace sched::live
