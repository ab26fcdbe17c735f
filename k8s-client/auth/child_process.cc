#include "k8s-client/auth/child_process.h"

#include "k8s-client/http/base/boost_asio.h"

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

namespace k8s::auth {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;
using http::ErrorCode;

constexpr std::size_t kErrorsKept = 4096;
// As much as a pipe holds by default.
constexpr std::size_t kErrorsAtOnce = std::size_t{64} * 1024;
constexpr std::size_t kErrorsLimit = std::size_t{16} * 1024 * 1024;

std::string system_error_text(int code) { return std::generic_category().message(code); }

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

// Reads from the pipe do not block; writes do, because the writing end belongs to the child.
std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{ends[0], ends[1]};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// posix_spawn with only output and errors inherited; the error number, 0 for none.
int spawn(const Command& command, int output, int errors, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), command.program);
  std::vector<std::string> environment = command.environment;
  const int failed = ::posix_spawn(&pid, command.program.c_str(), &files, &attributes,
                                   pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

// The process and its pipes; its pending operations keep it alive, until it has ended or is given
// up.
class Running : public std::enable_shared_from_this<Running> {
 public:
  Running(EventLoop& loop, const Command& command, std::function<void(Result<Finished>)> done)
      : loop_(loop),
        program_(command.program),
        time_limit_(command.time_limit),
        output_limit_(command.output_limit),
        done_(std::move(done)),
        output_(loop.context()),
        errors_(loop.context()),
        process_(std::make_shared<Descriptor>(loop.context())) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { give_up(); }

  void start(const Command& command);
  // Kills it if it runs; `done` is not called from here on.
  void give_up();

 private:
  std::optional<Error> launch(const Command& command);
  void watch(Descriptor& from, void (Running::*drain)());
  void await_end();
  void drain_output();
  void drain_errors();
  void on_end();
  void kill();
  void fail_large(std::size_t limit, const char* of);
  void finish(Result<Finished> result);
  void fail_soon(Error error);

  EventLoop& loop_;
  const std::string program_;
  const std::chrono::milliseconds time_limit_;
  const std::size_t output_limit_;
  std::function<void(Result<Finished>)> done_;
  Descriptor output_;
  Descriptor errors_;
  std::shared_ptr<Descriptor> process_;  // readable when it has ended
  pid_t pid_ = 0;                        // 0: not running, or already reaped
  Finished finished_;
  std::size_t errors_read_ = 0;
  std::unique_ptr<Timer> timer_;
};

void Running::start(const Command& command) {
  if (auto error = launch(command)) return fail_soon(std::move(*error));
  watch(output_, &Running::drain_output);
  watch(errors_, &Running::drain_errors);
  await_end();
  timer_ = loop_.after(time_limit_, [this] {
    kill();
    finish(tl::unexpected<Error>(make_error(
        ErrorKind::kTimeout, "did not end within " + std::to_string(time_limit_.count()) + " ms")));
  });
}

std::optional<Error> Running::launch(const Command& command) {
  const auto failure = [](int code) {
    return make_error(ErrorKind::kConfig, "cannot be started: " + system_error_text(code));
  };
  const auto output = make_pipe();
  if (!output) return failure(errno);
  output_.assign(output->read_end);
  const auto errors = make_pipe();
  if (!errors) {
    const int code = errno;
    ::close(output->write_end);
    return failure(code);
  }
  errors_.assign(errors->read_end);
  const int failed = spawn(command, output->write_end, errors->write_end, pid_);
  ::close(output->write_end);
  ::close(errors->write_end);
  if (failed != 0) {
    pid_ = 0;
    return failure(failed);
  }
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (process < 0) return failure(errno);
  process_->assign(process);
  return std::nullopt;
}

void Running::fail_soon(Error error) {
  timer_ = loop_.after({}, [this, error = std::move(error)]() mutable {
    finish(tl::unexpected<Error>(std::move(error)));
  });
}

void Running::watch(Descriptor& from, void (Running::*drain)()) {
  from.async_wait(Descriptor::wait_read,
                  [weak = weak_from_this(), &from, drain](const ErrorCode& error) {
                    const auto self = weak.lock();
                    if (error || !self || !self->done_) return;
                    ((*self).*drain)();
                    if (self->done_ && from.is_open()) self->watch(from, drain);
                  });
}

void Running::await_end() {
  process_->async_wait(Descriptor::wait_read, [weak = weak_from_this()](const ErrorCode& error) {
    const auto self = weak.lock();
    if (!error && self && self->done_) self->on_end();
  });
}

void Running::drain_output() {
  std::array<char, 16 * 1024> chunk{};
  while (output_.is_open()) {
    const auto got = ::read(output_.native_handle(), chunk.data(), chunk.size());
    if (got < 0) return;
    if (got == 0) return output_.close();
    finished_.output.append(chunk.data(), static_cast<std::size_t>(got));
    if (finished_.output.size() > output_limit_) return fail_large(output_limit_, "output");
  }
}

// Of a process that writes faster than this reads: what else the loop has to do comes between two
// calls.
void Running::drain_errors() {
  std::array<char, kErrorsKept> chunk{};
  for (std::size_t now = 0; errors_.is_open() && now < kErrorsAtOnce;) {
    const auto got = ::read(errors_.native_handle(), chunk.data(), chunk.size());
    if (got < 0) return;
    if (got == 0) return errors_.close();
    const auto size = static_cast<std::size_t>(got);
    now += size;
    finished_.errors.append(chunk.data(), std::min(size, kErrorsKept - finished_.errors.size()));
    errors_read_ += size;
    if (errors_read_ > kErrorsLimit) return fail_large(kErrorsLimit, "errors");
  }
}

void Running::fail_large(std::size_t limit, const char* of) {
  kill();
  finish(tl::unexpected<Error>(
      make_error(ErrorKind::kDecode,
                 "wrote more than " + std::to_string(limit) + " bytes of " + std::string(of))));
}

// Processes that the program started may live on and hold the pipes open. So the pipes are not read
// to their end: only what has been written by now counts.
void Running::on_end() {
  int status = 0;
  ::waitpid(std::exchange(pid_, 0), &status, WNOHANG);  // it has ended: see process_
  drain_output();
  if (!done_) return;
  drain_errors();
  if (!done_) return;
  finished_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finish(std::move(finished_));
}

// Kills the process by its own id, too, because it may have left its process group. The end of the
// process is not waited for; its entry is reaped later.
void Running::kill() {
  if (pid_ == 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  const pid_t pid = std::exchange(pid_, 0);
  if (::waitpid(pid, nullptr, WNOHANG) != 0 || !process_->is_open()) return;
  process_->async_wait(Descriptor::wait_read, [process = process_, pid](const ErrorCode& error) {
    if (!error) ::waitpid(pid, nullptr, WNOHANG);
  });
}

void Running::finish(Result<Finished> result) {
  const auto alive = weak_from_this().lock();
  const auto done = std::exchange(done_, nullptr);
  timer_.reset();
  done(std::move(result));
}

void Running::give_up() {
  done_ = nullptr;
  timer_.reset();
  kill();
}

class Handle final : public ChildProcess {
 public:
  explicit Handle(std::shared_ptr<Running> running) : running_(std::move(running)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() override { running_->give_up(); }

 private:
  std::shared_ptr<Running> running_;
};

}  // namespace

std::unique_ptr<ChildProcess> run_process(EventLoop& loop, const Command& command,
                                          std::function<void(Result<Finished>)> done) {
  auto running = std::make_shared<Running>(loop, command, std::move(done));
  running->start(command);
  return std::make_unique<Handle>(std::move(running));
}

}  // namespace k8s::auth
