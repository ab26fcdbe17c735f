// A client of an HTTPS server on this machine, which does one thing after the other and waits.
//
// It accepts any certificate, and returns it. It shares no code with the server under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tests {

class HttpsConnection {
 public:
  // Connected, and hands shaken; fails the test where that cannot be. `receive_buffer`: about how
  // many bytes the kernel takes before they are read; 0: as many as it sees fit.
  explicit HttpsConnection(std::uint16_t port, int receive_buffer = 0);
  HttpsConnection(HttpsConnection&&) noexcept;
  HttpsConnection& operator=(HttpsConnection&&) noexcept;
  ~HttpsConnection();

  void send(const std::string& bytes);
  // So many bytes, or less if the server closes or breaks off before.
  [[nodiscard]] std::string read(std::size_t size);
  // Everything until the server closes or breaks off.
  [[nodiscard]] std::string read_all();
  // Sends, then reads.
  [[nodiscard]] std::string exchange(const std::string& request);
  // Of the server, in PEM.
  [[nodiscard]] std::string certificate() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tests
