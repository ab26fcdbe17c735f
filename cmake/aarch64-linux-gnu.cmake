# Builds for 64-bit Arm on another machine, with Debian's cross-compiler and libraries (dpkg --add-architecture arm64); .ci/on-debian shows which.
# What is built runs by qemu-user, so that unit tests do, too.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
