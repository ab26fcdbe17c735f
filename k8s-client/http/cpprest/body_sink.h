// The target to which http_client writes the body of an answer: passed directly to the reader,
// nothing is stored.
//
// cpprestsdk's own buffers accept everything, so a reader that stops would not slow the server
// down. Here a write is done when the reader has taken the bytes, and only then is more read.
#pragma once

#include "k8s-client/http/cpprest/sdk.h"

#include <functional>
#include <string_view>

namespace k8s::http {

// Called on cpprestsdk's thread with bytes that stay valid until `taken` is set. It may be set on
// any thread, and must be.
using TakeBytes = std::function<void(std::string_view bytes,
                                     const pplx::task_completion_event<std::size_t>& taken)>;

[[nodiscard]] concurrency::streams::ostream make_body_sink(TakeBytes take);

}  // namespace k8s::http
