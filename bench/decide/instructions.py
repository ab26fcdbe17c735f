#!/usr/bin/env python3
"""Counts the instructions of small fixed runs of `bench decide`, beside those of another build or those kept in baseline.json.

    instructions.py BENCH_DECIDE                 beside baseline.json; exits 1 where a count has grown to more than 1.3 times
    instructions.py BENCH_DECIDE --base OTHER    beside another build's, at 1,000 and 10,000 nodes; 1 above 1.05 times
    instructions.py BENCH_DECIDE --write         makes the new counts the baseline
    instructions.py --self-test                  shows on made-up counts that the check can fail

Seconds depend on the machine and on what else it does; the instructions of a seeded run depend on the program, the compiler, its
flags and the libraries alone. They are counted by valgrind (callgrind), and only while the engine works: in Meter::apply, which
takes the events, and Meter::decide. What they do not show is waiting for memory.

Counts are comparable if all they depend on besides the engine is the same: baseline.json names it, and the commit that it is of. Where that
differs from the present build, the baseline is measured anew: that commit is built as this one is (.ci/base) and counted.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import builds

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASELINE = pathlib.Path(__file__).parent / "baseline.json"
LIMIT = 1.3         # against the baseline, which stays for long
PARENT_LIMIT = 1.05  # against a given build
PODS = 1000
SMALL = {
    "1,000 nodes, 1 shape": ["--nodes", "1000", "--shapes", "1"],
    "1,000 nodes, 10 shapes": ["--nodes", "1000", "--shapes", "10"],
    "1,000 nodes, 100 shapes": ["--nodes", "1000", "--shapes", "100"],
    "1,000 nodes, 10 shapes, 1,000 pods waiting": ["--nodes", "1000", "--shapes", "10", "--waiting", "1000"],
    "1,000 nodes, 10 shapes, 10,000 pods over quota":
        ["--nodes", "1000", "--shapes", "10", "--waiting", "10000", "--waiting-for", "quota"],
    "1,000 nodes, 10 shapes, 10 quotas contending": ["--nodes", "1000", "--shapes", "10", "--quotas", "10"],
    "1,000 nodes, 10 shapes, 100 quotas contending": ["--nodes", "1000", "--shapes", "10", "--quotas", "100"],
}
LARGE = {
    "10,000 nodes, 1 shape": ["--nodes", "10000", "--shapes", "1"],
    "10,000 nodes, 10 shapes": ["--nodes", "10000", "--shapes", "10"],
    "10,000 nodes, 100 shapes": ["--nodes", "10000", "--shapes", "100"],
    "10,000 nodes, 10 shapes, 10 quotas contending": ["--nodes", "10000", "--shapes", "10", "--quotas", "10"],
}
PARTS = {"events": "bench::decide::Meter::apply", "decision": "bench::decide::Meter::decide"}


def count(program, options):
    """Instructions for each pod that comes, by part."""
    with tempfile.TemporaryDirectory() as folder:
        profile = f"{folder}/profile"
        output_of(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--separate-threads=no"]
            + [f"--toggle-collect={function}*" for function in PARTS.values()]
            + [program, "--warm-up", "0", "--pods", str(PODS), *options])
        listing = output_of(["callgrind_annotate", "--inclusive=yes", "--threshold=100", profile])
    return {part: inclusive(listing, function) // PODS for part, function in PARTS.items()}


def count_small(program, conditions, count=count):
    """The counts of the small runs. They are kept in the program's build folder, for it would give the same again."""
    of = hashlib.sha256(pathlib.Path(program).read_bytes() + json.dumps(conditions).encode()).hexdigest()
    kept = pathlib.Path(program).resolve().parents[1] / "instructions.json"
    if kept.exists() and (found := json.loads(kept.read_text()))["of"] == of:
        return found["runs"]
    runs = {run: count(program, options) for run, options in SMALL.items()}
    part = kept.with_suffix(".part")
    part.write_text(json.dumps({"of": of, "runs": runs}, indent=2) + "\n")
    part.replace(kept)
    return runs


def output_of(command):
    """What a command prints. One that fails ends the script, with its last words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"instructions: {command[0]}: {error.strerror}")
    if done.returncode != 0:
        sys.exit(f"instructions: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def inclusive(listing, function):
    for line in listing.splitlines():
        match = re.match(r"\s*([\d,]+)\s", line)
        if match and f":{function}(" in line:
            return int(match.group(1).replace(",", ""))
    sys.exit(f"instructions: {function} is not in the profile; was it inlined?")


def depends_on(program):
    """What counts are comparable under, by name."""
    return builds.conditions(program) | {"valgrind": builds.valgrind(), "protocol": builds.protocol_of([SMALL, PODS])}


def differences(old, new):
    return [f"{name}: {old.get(name, 'unknown')} → {new[name]}" for name in new if old.get(name) != new[name] or new[name] == "unknown"]


def compare(old, new, limit):
    """Lines of a table, and the runs that have grown beyond the limit. One that the base does not have is shown as new."""
    lines, grown = [], []
    for run, parts in new.items():
        for part, now in parts.items():
            before = old.get(run, {}).get(part)
            ratio = now / before if before else None
            lines.append(f"{run:<47} {part:<9} {before or '-':>9} {now:>9}   {f'{ratio:.3f}' if ratio else 'new: not judged'}")
            if ratio and ratio > limit:
                grown.append(f"{run}, {part}")
    return lines, grown


def show(title, lines):
    print(f"Instructions per pod that comes, {PODS} pods ({title})")
    print(f"{'run':<47} {'part':<9} {'base':>9} {'now':>9}   ratio")
    print(*lines, sep="\n", end="\n" if lines else "", flush=True)


def against_build(base, new, only):
    """Run by run, so that one that is stopped has shown what there was time for."""
    runs = {name: options for name, options in (SMALL | LARGE).items() if not only or any(word in name for word in only)}
    if not runs:
        sys.exit("instructions: no run has such a name")
    conditions = differences(builds.conditions(base), builds.conditions(new))
    if conditions:
        sys.exit("instructions: the two are not built alike, so their counts cannot be compared:\n  " + "\n  ".join(conditions))
    show(f"base: {base}", [])
    all_grown = []
    for run, options in runs.items():
        old, now = ({run: count(program, options)} for program in (base, new))
        lines, grown = compare(old, now, PARENT_LIMIT)
        print("\n".join(lines), flush=True)
        all_grown += grown
    return all_grown


def baseline_counts(conditions):
    """Those of baseline.json, or, if they are of other conditions, of its commit as it is built now; and what they are of."""
    baseline = json.loads(BASELINE.read_text())
    other = differences(baseline["depends_on"], conditions)
    if not other:
        return baseline["runs"], f"baseline.json, of {baseline['commit'][:12]}"
    print("The baseline was counted under other conditions, so it is counted anew:\n  " + "\n  ".join(other), flush=True)
    built = subprocess.run([ROOT / ".ci/base", "--as-now", baseline["commit"], "bench-decide"], capture_output=True, text=True)
    if built.returncode != 0:  # a copy without history, say
        print(f"It cannot be: {built.stderr.strip()}", flush=True)
        return {}, "none"
    folder = built.stdout.strip()
    return count_small(f"{folder}/bench-decide", conditions), f"{baseline['commit'][:12]}, built as this is"


def write(counts, conditions):
    commit = output_of(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    changed = output_of(["git", "-C", ROOT, "status", "--porcelain", "--", "scheduler", "plugins", "k8s-client", "bench/decide/*.cc",
                         "bench/decide/*.h", "CMakeLists.txt", "CMakePresets.json"]).strip()
    if changed:
        sys.exit(f"instructions: a baseline is a commit's; these are not committed:\n{changed}")
    BASELINE.write_text(json.dumps({"commit": commit, "depends_on": conditions, "runs": counts}, indent=2) + "\n")


def self_test():
    old = {"a": {"decision": 100}}
    cases = [(100, []), (int(100 * LIMIT), []), (int(100 * LIMIT) + 1, ["a, decision"]), (10, [])]
    for now, want in cases:
        if compare(old, {"a": {"decision": now}}, LIMIT)[1] != want:
            sys.exit(f"self-test: {now} against 100")
    alike = [("-O2", "-O2", True), ("-O2", "-O3", False), ("unknown", "unknown", False)]
    if any(bool(differences({"flags": old}, {"flags": new})) == same for old, new, same in alike):
        sys.exit("self-test: conditions")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = "c++ -DNDEBUG -I/x -O2 -g1 -Wall --param=large-unit-insns=9 --param=ggc-min-heapsize=9 -std=c++20 -ffile-prefix-map=/x/=/ -c unity_0.cxx -o scheduler/CMakeFiles/scheduler_core.dir/Unity/unity_0.cxx.o"
        (folder / "compile_commands.json").write_text(json.dumps([{"command": command}]))
        (folder / "CMakeCache.txt").write_text("CMAKE_EXE_LINKER_FLAGS:STRING=-flto\nCMAKE_UNITY_BUILD:BOOL=ON\n")
        if (flags := builds.flags_of(folder)) != "-DNDEBUG -O2 --param=large-unit-insns=9 -std=c++20 -flto unity":
            sys.exit(f"self-test: flags {flags}")
        program, counted = folder / "bin" / "bench-decide", []
        program.parent.mkdir()
        for content, flags, runs in [("a", "-O2", 1), ("a", "-O2", 1), ("b", "-O2", 2), ("b", "-O3", 3)]:
            program.write_text(content)
            count_small(program, {"flags": flags}, lambda *run: counted.append(run) or {"decision": 1})
            if len(counted) != runs * len(SMALL) or list(program.parent.iterdir()) != [program]:
                sys.exit(f"self-test: {len(counted)} counts of {content} with {flags}")


def parse():
    parser = argparse.ArgumentParser(description="Instructions of a decision and of a pod's events")
    parser.add_argument("program", help="bench-decide in its build folder")
    parser.add_argument("only", nargs="*", help="with --base, words: the runs whose names contain one of them")
    parser.add_argument("--base", help="another build's bench-decide")
    parser.add_argument("--write", action="store_true", help="make the counts the baseline")
    return parser.parse_intermixed_args()


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    options = parse()
    if options.base:
        grown, limit = against_build(options.base, options.program, options.only), PARENT_LIMIT
    else:
        conditions = depends_on(options.program)
        counts = count_small(options.program, conditions)
        if options.write:
            return write(counts, conditions)
        old, title = baseline_counts(conditions)
        lines, grown = compare(old, counts, LIMIT)
        limit = LIMIT
        show(f"base: {title}", lines)
    if grown:
        sys.exit(f"more than {limit} times the base: {'; '.join(grown)}." + ("" if options.base else " Where that is meant: make instructions-baseline"))


if __name__ == "__main__":
    main()
