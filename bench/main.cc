// bench: measures the scheduler, and compares it with others. One subcommand for each measurement.
#include "bench/decide/command.h"
#include "bench/live/live.h"
#include "bench/mig/mig.h"
#include "bench/output.h"
#include "bench/policies/registry.h"
#include "bench/replay/command.h"
#include "bench/sameness/answer.h"
#include "bench/transport/transport.h"
#include "bench/verdicts/verdicts.h"
#include "plugins/registry.h"
#include "scheduler/base/version.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace {

// Each adds its subcommand, which writes its outcome to `exit_code`.

void add_verdicts(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<bench::verdicts::Options>();
  CLI::App* command = app.add_subcommand(
      "verdicts",
      "What the engine answers to scheduling cases; exits 1 where the answers given with "
      "them differ");
  command->add_option("CASES", options->files, "Case files, .jsonl or .jsonl.gz")->required();
  command->add_flag("-q,--quiet", options->quiet, "Only differences and the closing line");
  command->add_flag("--scores", options->scores, "Scores of the nodes that fit, too");
  bench::add_output(*command, options->output);
  command->callback(
      [options, &exit_code] { exit_code = bench::verdicts::run(*options, std::cout, std::cerr); });
}

void add_mig(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<bench::mig::Options>();
  CLI::App* command = app.add_subcommand(
      "mig", "Which rule of MIG placement turns away the least, on synthetic loads");
  command->add_option("--policy", options->policies, "Rules; all unless given");
  command->add_option("--distribution", options->distributions, "Kinds of load; all unless given");
  command->add_option("--load", options->loads, "Slices asked for, as a share of those there are");
  command->add_option("--runs", options->runs, "Runs of each")->check(CLI::Range(1, 10'000));
  command->add_option("--seed", options->seed, "Of the first run; the others follow")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--gpus", options->gpus, "A100-80GB")->check(CLI::Range(1, 9'999));
  command->add_option("--slots", options->slots, "Requests of a run")
      ->check(CLI::Range(4, 10'000'000));
  command->add_option("--jobs", options->jobs, "Threads; one per core unless given")
      ->check(CLI::Range(1, 1'024));
  command->add_option("--json", options->json, "A file for the figures");
  command->callback([options, &exit_code] {
    exit_code = bench::mig::run(*options, bench::registry(), std::cout, std::cerr);
  });
}

void add_decide(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "decide", "How fast the engine decides: without API server, network and threads");
  bench::decide::configure(*command, plugins::registry(), exit_code);
}

void add_live(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("live",
                                         "The scheduler beside kube-scheduler and the floor, on a "
                                         "real API server; -h lists its flags");
  command->set_help_flag();  // the harness prints its own help
  command->prefix_command();
  command->callback(
      [command, &exit_code] { exit_code = bench::live::run(command->remaining(), std::cerr); });
}

void add_transport(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<bench::transport::Options>();
  CLI::App* command = app.add_subcommand(
      "transport", "What a request costs over each transport, against a real API server");
  command->add_option("--kubeconfig", options->kubeconfig, "The cluster")->required();
  command->add_option("--requests", options->requests, "Of each round and transport")
      ->check(CLI::Range(1, 10'000'000));
  command->add_option("--in-flight", options->in_flight, "At a time")->check(CLI::Range(1, 10'000));
  command->add_option("--rounds", options->rounds, "Of both")->check(CLI::Range(1, 1'000));
  command->callback(
      [options, &exit_code] { exit_code = bench::transport::run(*options, std::cout, std::cerr); });
}

void add_answer(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "answer", "An engine that is told and asked by lines on its input; for bench/sameness");
  command->callback([&exit_code] {
    exit_code = bench::sameness::answer(std::cin, bench::registry(), std::cout, std::cerr);
  });
}

// Reports if the first argument is not an existing subcommand. CLI would only ask for a subcommand.
bool is_known(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return true;
  const std::string first = argv[1];
  if (first == "-h" || first == "--help" || first == "--version") return true;
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == first) return true;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  std::cerr << "bench: \"" << first << "\" is none of its subcommands: " << names << '\n';
  return false;
}

// The words of the command line, whatever the program's path is.
std::vector<std::string> typed(int argc, char** argv) {
  std::vector<std::string> words{"bench"};
  words.insert(words.end(), argv + 1, argv + argc);
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures gpu-scheduler, and compares it with kube-scheduler", "bench");
  app.set_version_flag("--version", "bench " + std::string(sched::kVersion));
  app.require_subcommand(1);
  int exit_code = 0;
  add_verdicts(app, exit_code);
  bench::replay::add_command(app, typed(argc, argv), exit_code);
  add_mig(app, exit_code);
  add_decide(app, exit_code);
  add_live(app, exit_code);
  add_transport(app, exit_code);
  add_answer(app, exit_code);
  if (!is_known(app, argc, argv)) return 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return exit_code;
}
