#include "k8s-client/auth/plugin_credentials.h"

#include "k8s-client/shown.h"

#include <algorithm>
#include <utility>

namespace k8s::auth {
namespace {

using std::chrono::seconds;

// How long before they expire credentials are renewed; of short-lived ones, a fifth of their life.
constexpr seconds kRenewAhead{60};
// Credentials that are refused at this age were valid before: the next run need not wait.
constexpr seconds kWasGood{60};
constexpr BackOffOptions kBackOff = {.first = seconds{1}, .limit = seconds{60}, .jitter = 0.2};

// Its output may hold credentials, so it is not quoted.
std::string exit_text(const Finished& finished) {
  std::string text = "exit code " + std::to_string(finished.exit_code);
  if (!finished.errors.empty()) text += ", and it wrote to its standard error; run it to see what";
  return text;
}

}  // namespace

PluginCredentials::PluginCredentials(ExecPlugin plugin, ExecCluster cluster,
                                     const CredentialSources& cluster_sources, World world)
    : plugin_(std::move(plugin)),
      cluster_(std::move(cluster)),
      authorities_(cluster_sources, world.now),
      world_(std::move(world)),
      back_off_(static_cast<std::uint64_t>(world_.now().time_since_epoch().count()), kBackOff) {}

bool PluginCredentials::is_expired() const {
  const auto& expires = held_->credential.expires;
  return expires && *expires <= world_.wall_clock();
}

bool PluginCredentials::is_due() const {
  if (!is_usable()) return true;
  return held_->credential.expires && held_->renew_at <= world_.wall_clock();
}

bool PluginCredentials::prepare(EventLoop& loop, std::function<void()> ready) {
  if (!running_ && is_due() && world_.now() >= not_before_) run(loop);
  if (!running_ || is_usable()) return true;
  waiting_.push_back(std::move(ready));
  return false;
}

void PluginCredentials::run(EventLoop& loop) {
  // Authorities that cannot be read make the request itself fail.
  const auto tls = authorities_.tls();
  const std::string info = exec_info(plugin_, cluster_, tls ? *tls : TlsMaterial{});
  running_ = world_.run(loop, command_of(plugin_, info),
                        [this](const Result<Finished>& finished) { on_finished(finished); });
}

void PluginCredentials::on_finished(const Result<Finished>& finished) {
  const auto ended = std::move(running_);
  auto credential = credential_of(finished);
  credential ? hold(std::move(*credential)) : fail(std::move(credential.error()));
  for (const auto& ready : std::exchange(waiting_, {})) ready();
}

Result<ExecCredential> PluginCredentials::credential_of(const Result<Finished>& finished) const {
  if (!finished) return tl::unexpected<Error>(finished.error());
  if (finished->exit_code != 0) {
    return config_error(exit_text(*finished));
  }
  auto credential = parse_exec_credential(finished->output, plugin_.api_version);
  if (!credential) return credential;
  if (credential->expires && *credential->expires <= world_.wall_clock()) {
    return config_error("what it printed has expired already");
  }
  return credential;
}

void PluginCredentials::hold(ExecCredential credential) {
  const auto wall_now = world_.wall_clock();
  const auto expires = credential.expires.value_or(wall_now);
  const auto ahead =
      std::min<std::chrono::system_clock::duration>(kRenewAhead, (expires - wall_now) / 5);
  held_ = Held{std::move(credential), world_.now(), expires - ahead};
  rejected_ = false;
  failure_.reset();
}

void PluginCredentials::fail(Error error) {
  error.kind = ErrorKind::kConfig;
  error.message = "credential plugin \"" + shown(plugin_.command) + "\": " + error.message;
  if (!plugin_.install_hint.empty()) error.message += "; " + shown(plugin_.install_hint, 512);
  // Requests continue with the present credentials, so nothing else would report this.
  const bool news = !failure_ || failure_->message != error.message;
  if (news && is_usable()) report(error);
  not_before_ = world_.now() + back_off_.next(world_.now());
  failure_ = std::move(error);
}

void PluginCredentials::rejected() {
  authorities_.rejected();
  if (!held_ || rejected_) return;
  rejected_ = true;
  const auto now = world_.now();
  if (now - held_->since >= kWasGood) {
    back_off_.reset();
    not_before_ = now;
  } else {
    not_before_ = now + back_off_.next(now);
  }
}

Result<const ExecCredential*> PluginCredentials::current() const {
  if (is_usable()) return &held_->credential;
  if (failure_) return tl::unexpected<Error>(*failure_);
  if (held_ && !is_expired()) return &held_->credential;  // refused, and too early to ask again
  return config_error("credential plugin \"" + shown(plugin_.command) + "\": has yet to be run");
}

Result<std::optional<std::string>> PluginCredentials::bearer_token() {
  return current().map([](const ExecCredential* credential) { return credential->token; });
}

Result<TlsMaterial> PluginCredentials::tls() {
  auto material = authorities_.tls();
  if (!material) return material;
  const auto credential = current();
  if (!credential) return tl::unexpected<Error>(credential.error());
  material->certificate_pem = (*credential)->certificate_pem;
  material->key_pem = (*credential)->key_pem;
  return material;
}

}  // namespace k8s::auth
