// Names of threads, as `top -H` and `perf` show them.
#pragma once

#include <pthread.h>

namespace sched::live {

// Of the calling thread. Linux keeps 15 bytes; a longer name is not set.
inline void name_this_thread(const char* name) { ::pthread_setname_np(::pthread_self(), name); }

}  // namespace sched::live
