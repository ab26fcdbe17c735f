// A program that leaks memory: tests/CMakeLists.txt has it run as all others are, and expects the
// report.
#include <string>
#include <vector>

namespace {

// Several, because a pointer may stay where the search for leaks looks, such as in a register.
[[gnu::noinline]] void leak(int number) {
  std::vector<std::string*> lost;
  for (int i = 0; i < number; ++i) lost.push_back(new std::string(100, 'x'));
  lost.assign(lost.size(), nullptr);
}

}  // namespace

int main() { leak(100); }
