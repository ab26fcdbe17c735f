#include "bench/replay/shares/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

namespace bench::replay {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  [[nodiscard]] std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest.at(i));
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.hex();
}

k8s::Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Sha256 sum;
  std::array<char, 64 * 1024> block{};
  while (in) {
    in.read(block.data(), block.size());
    sum.add({block.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (in.bad() || !in.eof()) {
    return k8s::config_error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  return sum.hex();
}

k8s::Result<std::string> sha256_of_this_program() { return sha256_of_file("/proc/self/exe"); }

}  // namespace bench::replay
