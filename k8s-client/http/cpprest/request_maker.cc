#include "k8s-client/http/cpprest/request_maker.h"

#include "k8s-client/http/pooled/request_check.h"

#include <cpprest/containerstream.h>

#include <exception>
#include <utility>
#include <vector>

namespace k8s::http {
namespace {

// http_client adds the length only for POST and PUT; it adds Host and "Connection: Keep-Alive".
void set_body(const Request& request, sdk::http_request& to) {
  if (!request.body.empty()) {
    // As a vector of bytes; from a string it would use a buffer of one type as of another.
    std::vector<std::uint8_t> bytes(request.body.begin(), request.body.end());
    to.set_body(concurrency::streams::bytestream::open_istream(std::move(bytes)),
                request.body.size(), request.content_type);
  } else if (request.method == Method::kPatch) {
    to.headers().add("Content-Length", "0");
  }
}

}  // namespace

Result<sdk::http_request> RequestMaker::make(const Request& request,
                                             const std::optional<std::string>& token) const try {
  if (auto error = check_token(token)) return tl::unexpected<Error>(std::move(*error));
  sdk::http_request made{std::string(to_string(request.method))};
  made.set_request_uri(web::uri(path_prefix_ + request.target));
  made.headers().add("User-Agent", user_agent_);
  if (token) made.headers().add("Authorization", "Bearer " + *token);
  if (!has_own_accept(request)) made.headers().add("Accept", "application/json");
  for (const auto& [name, value] : request.headers) made.headers().add(name, value);
  set_body(request, made);
  return made;
} catch (const std::exception& error) {
  return config_error(std::string("cpprestsdk cannot send this request: ") + error.what());
}

}  // namespace k8s::http
