# harden(TARGET): what is compiled and linked with TARGET defends itself where a bug could be used by whoever writes pods.
#
# For optimised builds without sanitizers, which find more by themselves. `.ci/hardened` reads off a program whether it is so, and
# bench/decide/README.md tells what it costs.
function(harden target)
  set(optimised "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
  set(compile
    -fstack-protector-strong              # a buffer on the stack that overflows ends the process before it returns
    -fstack-clash-protection              # a large stack frame cannot jump over the guard page
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 # libc's functions check the sizes of buffers that the compiler knows
    -D_GLIBCXX_ASSERTIONS                 # an index beyond a vector or a string ends the process
    -fPIE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND compile -fcf-protection=full) # marks where indirect jumps may land; returns may be checked
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    list(APPEND compile -mbranch-protection=standard)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With the checked functions GCC 12 sees buffers overread where boost::container::small_vector moves one that is on the heap.
    list(APPEND compile -Wno-stringop-overread)
  endif()
  set(link
    -pie                                  # its addresses are drawn anew at each start
    "LINKER:-z,relro" "LINKER:-z,now"     # tables of functions are filled at the start, then read-only
    "LINKER:-z,noexecstack")
  target_compile_options(${target} INTERFACE "$<${optimised}:${compile}>")
  target_link_options(${target} INTERFACE "$<${optimised}:${link}>")
endfunction()
