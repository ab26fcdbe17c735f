// Runs a target over its corpus as it stands, then over so many mutations of it.
//
//   fuzz_TARGET --corpus FOLDER [--dictionary FILE] [--iterations N] [--seed N]
//   fuzz_TARGET FILE…                  the inputs of earlier failures, once each
//
// The input at which the target dies, by whatever way, is left in the file crash-TARGET of the
// current folder.
#include "k8s-client/parse_number.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutator.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

// A sanitizer ends the process without a signal, but calls this back before.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

// Far beyond what any input takes, on any machine. Before ctest's limit, which leaves no time to
// save the input.
constexpr unsigned kHangSeconds = 60;

std::string current_input;
std::string crash_file;

void save_input() {
  std::FILE* file = std::fopen(crash_file.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(current_input.data(), 1, current_input.size(), file);
  std::fclose(file);
  std::fprintf(stderr, "the input is in %s\n", crash_file.c_str());
}

void on_signal(int signal) {
  save_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void save_input_on_death() {
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_input);
  std::signal(SIGABRT, on_signal);
  std::signal(SIGALRM, on_signal);  // of an input that hangs
  if (__sanitizer_set_death_callback == nullptr) std::signal(SIGSEGV, on_signal);
}

void run(std::string input) {
  current_input = std::move(input);
  alarm(kHangSeconds);
  fuzz_one_input(reinterpret_cast<const std::uint8_t*>(current_input.data()), current_input.size());
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    std::cerr << file.string() << ": cannot be read: " << std::strerror(errno) << "\n";
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

// In the order of the names, so that a seed means the same everywhere.
std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const auto& file : files) corpus.push_back(content_of(file));
  return corpus;
}

// The text between the quotes of a line of the dictionary: \", \\ and \xAB stand for a byte.
std::string unescaped(std::string_view text) {
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    if (escape && text[i + 1] == 'x') {
      word += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
      continue;
    }
    if (escape) ++i;
    word += text[i];
  }
  return word;
}

// libFuzzer's format: one "word" a line; other lines are comments.
std::vector<std::string> read_dictionary(const std::filesystem::path& file) {
  if (file.empty()) return {};
  std::istringstream stream(content_of(file));
  std::vector<std::string> words;
  for (std::string line; std::getline(stream, line);) {
    if (line.size() < 2 || line.front() != '"' || line.back() != '"') continue;
    words.push_back(unescaped(std::string_view(line).substr(1, line.size() - 2)));
  }
  return words;
}

struct Options {
  std::string corpus;
  std::string dictionary;
  std::uint64_t iterations = 1000;
  std::uint64_t seed = 1;
  std::vector<std::string> files;
};

[[noreturn]] void refuse(const std::string& what) {
  std::cerr << what << "\n";
  std::exit(2);
}

std::uint64_t number(const std::string& name, const std::string& text) {
  const auto value = k8s::parse_number<std::uint64_t>(text);
  if (!value) refuse(name + " \"" + text + "\": want a number");
  return *value;
}

// What is not understood ends the run: a slip of the pen must not look like one that found nothing.
Options parse_arguments(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!name.starts_with("--")) {
      options.files.push_back(name);
      continue;
    }
    if (i + 1 == arguments.size()) refuse(name + " wants a value");
    const std::string& value = arguments[++i];
    if (name == "--corpus") {
      options.corpus = value;
    } else if (name == "--dictionary") {
      options.dictionary = value;
    } else if (name == "--iterations") {
      options.iterations = number(name, value);
    } else if (name == "--seed") {
      options.seed = number(name, value);
    } else {
      refuse(name + " is no flag of this");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_arguments({argv + 1, argv + argc});
  crash_file = "crash-" + std::filesystem::path(argv[0]).filename().string();
  save_input_on_death();
  for (const auto& file : options.files) run(content_of(file));
  if (options.corpus.empty()) return options.files.empty() ? 2 : 0;

  const auto corpus = read_corpus(options.corpus);
  if (corpus.empty()) {
    std::cerr << options.corpus << ": no seeds\n";
    return 2;
  }
  for (const auto& input : corpus) run(input);
  fuzz::Mutator mutator(corpus, read_dictionary(options.dictionary), options.seed);
  for (std::uint64_t i = 0; i < options.iterations; ++i) run(mutator.next());
  std::cout << corpus.size() << " seeds, " << options.iterations << " mutations\n";
  return 0;
}
