// SHA-256 of what a study is made of, as 64 hexadecimal digits, as sha256sum prints it. Two shares
// are of one study only if these are equal.
#pragma once

#include "k8s-client/error.h"

#include <string>
#include <string_view>

namespace bench::replay {

[[nodiscard]] std::string sha256(std::string_view text);
// The error names the file.
[[nodiscard]] k8s::Result<std::string> sha256_of_file(const std::string& path);
// Of this program's own file: another build of the same version has another one.
[[nodiscard]] k8s::Result<std::string> sha256_of_this_program();

}  // namespace bench::replay
