#include "scheduler/live/record/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sched::live {

std::FILE* open_private(const std::string& file) {
  constexpr mode_t kOwnerAlone = 0600;
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerAlone);
  if (descriptor < 0) return nullptr;
  struct stat found {};
  const bool is_file = ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
  std::FILE* handle = nullptr;
  if (!is_file || ::fchmod(descriptor, kOwnerAlone) == 0) handle = ::fdopen(descriptor, "w");
  if (handle == nullptr) ::close(descriptor);
  return handle;
}

}  // namespace sched::live
