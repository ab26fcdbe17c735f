#include "bench/transport/transport.h"

#include "k8s-client/auth/cluster_access.h"
#include "k8s-client/http/asio_transport.h"
#include "k8s-client/http/cpprest_transport.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <ostream>
#include <vector>

namespace bench::transport {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kWarmUp = 300;

k8s::Request review() {
  k8s::Request request;
  request.method = k8s::Method::kPost;
  request.target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  request.body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  return request;
}

// Of the whole process; it only makes a round at that time.
Seconds cpu_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return Seconds(seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

struct Cost {
  double per_second = 0;
  double cpu_us = 0;  // per request
};

// Sends `count` requests, with a limited number at a time.
class Load {
 public:
  Load(k8s::EventLoop& loop, k8s::Transport& transport, int count)
      : loop_(loop), transport_(transport), to_send_(count), to_answer_(count) {}

  // The first error, if there was one.
  std::optional<std::string> run(int in_flight) {
    loop_.post([this, in_flight] {
      for (int i = 0; i < in_flight; ++i) send();
    });
    loop_.run();
    return problem_;
  }

 private:
  void send() {
    if (to_send_ == 0) return;
    --to_send_;
    transport_.send(review(), [this](const k8s::Result<k8s::Response>& answer) {
      if (!answer) problem_ = answer.error().message;
      if (answer && answer->status != 201) problem_ = fmt::format("status {}", answer->status);
      send();
      if (--to_answer_ == 0) loop_.stop();
    });
  }

  k8s::EventLoop& loop_;
  k8s::Transport& transport_;
  int to_send_;
  int to_answer_;
  std::optional<std::string> problem_;
};

struct Kind {
  const char* name;
  std::unique_ptr<k8s::Transport> (*make)(k8s::EventLoop&, k8s::Endpoint, k8s::Credentials&,
                                          k8s::TransportOptions);
};
constexpr std::array<Kind, 2> kKinds = {{
    {"asio", k8s::make_asio_transport},
    {"cpprest", k8s::make_cpprest_transport},
}};

k8s::Result<Cost> measure(const Kind& kind, k8s::EventLoop& loop, k8s::ClusterAccess& access,
                          const Options& options) {
  k8s::TransportOptions transport_options;
  transport_options.qps = 0;
  const auto transport = kind.make(loop, access.endpoint, *access.credentials, transport_options);
  const int in_flight = std::min(options.in_flight, options.requests);
  if (const auto problem = Load(loop, *transport, kWarmUp).run(std::min(in_flight, kWarmUp))) {
    return k8s::config_error(fmt::format("{}: {}", kind.name, *problem));
  }
  const auto cpu = cpu_time();
  const auto begin = Clock::now();
  if (const auto problem = Load(loop, *transport, options.requests).run(in_flight)) {
    return k8s::config_error(fmt::format("{}: {}", kind.name, *problem));
  }
  const Seconds took = Clock::now() - begin;
  const Seconds used = cpu_time() - cpu;
  return Cost{.per_second = options.requests / took.count(),
              .cpu_us = used.count() * 1e6 / options.requests};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Round {
  std::array<Cost, kKinds.size()> of;
};

void print(const std::vector<Round>& rounds, std::ostream& out) {
  const auto row = [&](std::string_view what, double Cost::*field) {
    std::vector<double> first;
    std::vector<double> second;
    std::vector<double> ratio;
    for (const Round& round : rounds) {
      first.push_back(round.of[0].*field);
      second.push_back(round.of[1].*field);
      ratio.push_back(round.of[1].*field / (round.of[0].*field));
    }
    out << fmt::format("{:<28}{:>10.0f}{:>10.0f}{:>8.2f}  ({:.2f}-{:.2f})\n", what, median(first),
                       median(second), median(ratio), *std::min_element(ratio.begin(), ratio.end()),
                       *std::max_element(ratio.begin(), ratio.end()));
  };
  out << fmt::format("{:<28}{:>10}{:>10}{:>8}\n", "", kKinds[0].name, kKinds[1].name, "ratio");
  row("POST/s", &Cost::per_second);
  row("CPU per request, us", &Cost::cpu_us);
}

}  // namespace

int run(const Options& options, std::ostream& out, std::ostream& errors) {
  if (!k8s::has_cpprest_transport()) {
    errors << "bench transport: there is no second one in this build (GPU_SCHEDULER_CPPREST)\n";
    return 2;
  }
  // First, so that it ends last: the credentials may have a program running on it.
  const auto loop = k8s::make_event_loop();
  auto access = k8s::load_kubeconfig(options.kubeconfig);
  if (!access) {
    errors << "bench transport: " << access.error().message << "\n";
    return 2;
  }
  std::vector<Round> rounds(static_cast<std::size_t>(options.rounds));
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (std::size_t turn = 0; turn < kKinds.size(); ++turn) {
      const std::size_t kind = i % 2 == 0 ? turn : kKinds.size() - 1 - turn;
      const auto cost = measure(kKinds[kind], *loop, *access, options);
      if (!cost) {
        errors << "bench transport: " << cost.error().message << "\n";
        return 1;
      }
      rounds[i].of[kind] = *cost;
    }
  }
  out << fmt::format(
      "{} rounds of {} POSTs each, {} at a time; medians, and the ratio within a "
      "round (least-greatest)\n",
      options.rounds, options.requests, options.in_flight);
  print(rounds, out);
  return 0;
}

}  // namespace bench::transport
