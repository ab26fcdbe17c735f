#include "tests/scheduler/live/shell/shell_world.h"

#include "plugins/registry.h"
#include "scheduler/config/config.h"
#include "tests/support/catch.h"
#include "tests/support/https_connection.h"

#include <arpa/inet.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tests {
namespace {

class LinesSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LinesSink(std::function<void(std::string)> add) : add_(std::move(add)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& line) override {
    add_({line.payload.data(), line.payload.size()});
  }
  void flush_() override {}

  std::function<void(std::string)> add_;
};

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer somebody\r\n\r\n";
}

}  // namespace

k8s::Lease lease_of(const std::string& name, const std::string& holder) {
  k8s::Lease lease;
  lease.metadata.namespace_ = "gpu-scheduler";
  lease.metadata.name = name;
  lease.spec.holder_identity = holder;
  lease.spec.lease_duration_seconds = 600;
  lease.spec.renew_time = k8s::Timestamp(std::chrono::seconds(1'000'000));
  return lease;
}

ShellWorld::ShellWorld() : api([this] { changed(); }), log_before_(spdlog::default_logger()) {
  auto logger = std::make_shared<spdlog::logger>(
      "shell", std::make_shared<LinesSink>([this](std::string line) {
        {
          const std::lock_guard lock(mutex_);
          lines_.push_back(std::move(line));
        }
        changed();
      }));
  logger->set_level(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
  api.has(lease_of("gpu-scheduler", ""));
}

ShellWorld::~ShellWorld() {
  if (thread_.joinable()) {
    shell_->shut_down("the test is over");
    thread_.join();
  }
  shell_.reset();
  spdlog::set_default_logger(log_before_);
}

void ShellWorld::changed() {
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

sched::live::ShellOptions ShellWorld::options(std::string_view config) const {
  auto parsed = sched::config::parse(config, "test", plugins::registry());
  REQUIRE(parsed);
  return {.configuration = std::move(*parsed),
          .cluster = api.access(),
          .http_bind_address = "127.0.0.1:0",
          .secure_port = sched::live::SecurePortOptions{.address = "127.0.0.1:0",
                                                        .certificate = {},
                                                        .cluster = api.access(),
                                                        .time_limit = std::chrono::minutes(5)},
          .record_file = {},
          .config_file = "config.yaml",
          .config_text = std::string(config),
          .version = "v9.9.9"};
}

void ShellWorld::start(sched::live::ShellOptions options) {
  auto created = sched::live::Shell::create(std::move(options));
  if (!created) FAIL(created.error().message);
  shell_ = std::move(*created);
  thread_ = std::thread([this] {
    const auto end = shell_->run();
    const std::lock_guard lock(mutex_);
    end_ = end;
    changed_.notify_all();
  });
}

sched::live::Shell::End ShellWorld::end() {
  const auto end = wait<sched::live::Shell::End>("the end of the shell", [&] { return end_; });
  thread_.join();
  return end;
}

sched::live::Shell::End ShellWorld::shut_down() {
  shell_->shut_down("the test is over");
  return end();
}

template <typename Found>
Found ShellWorld::wait(const std::string& what, const std::function<std::optional<Found>()>& find) {
  std::unique_lock lock(mutex_);
  std::optional<Found> found;
  const bool in_time = changed_.wait_for(lock, std::chrono::minutes(1),
                                         [&] { return (found = find()).has_value(); });
  lock.unlock();
  INFO("waited for " << what);
  REQUIRE(in_time);
  return *std::move(found);
}

ShellWorld::Json ShellWorld::write(const std::string& method, const std::string& path_end,
                                   std::size_t number) {
  return wait<Json>(method + " " + path_end, [&]() -> std::optional<Json> {
    std::size_t seen = 0;
    for (const ApiServer::Write& each : api.writes()) {
      if (each.method != method || !each.path.ends_with(path_end)) continue;
      if (++seen == number) return each.body;
    }
    return std::nullopt;
  });
}

std::size_t ShellWorld::writes(const std::string& method, const std::string& path_end) const {
  const auto all = api.writes();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const ApiServer::Write& each) {
        return each.method == method && each.path.ends_with(path_end);
      }));
}

ShellWorld::Json ShellWorld::event(const std::string& reason, const std::string& name) {
  return wait<Json>("event " + reason + " of " + name, [&]() -> std::optional<Json> {
    for (const ApiServer::Write& each : api.writes()) {
      if (!each.path.ends_with("/events") || each.body.at("reason") != reason) continue;
      if (each.body.at("regarding").at("name") == name) return each.body;
    }
    return std::nullopt;
  });
}

std::string ShellWorld::line(const std::string& words) {
  return wait<std::string>(words, [&]() -> std::optional<std::string> {
    for (const std::string& each : lines_) {
      if (each.find(words) != std::string::npos) return each;
    }
    return std::nullopt;
  });
}

bool ShellWorld::has_line(const std::string& words) {
  const std::lock_guard lock(mutex_);
  return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& each) {
    return each.find(words) != std::string::npos;
  });
}

std::uint16_t ShellWorld::port(const std::string& name) {
  const std::string starting = line("starting ");
  const auto at = starting.find(" " + name + "=");
  REQUIRE(at != std::string::npos);
  return static_cast<std::uint16_t>(std::stoi(starting.substr(at + name.size() + 2)));
}

std::string ShellWorld::probe(const std::string& target) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port("http_port"));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  const std::string request = get(target);
  REQUIRE(::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0);
  std::string answer;
  std::array<char, 4096> chunk{};
  for (ssize_t n = 0; (n = ::recv(socket, chunk.data(), chunk.size(), 0)) > 0;) {
    answer.append(chunk.data(), static_cast<std::size_t>(n));
  }
  ::close(socket);
  return answer;
}

std::string ShellWorld::secure(const std::string& target) {
  return HttpsConnection(port("secure_port")).exchange(get(target));
}

}  // namespace tests
