#!/usr/bin/env python3
"""Counts the instructions of small fixed runs of `bench decide`, beside those kept in baseline.json.

    instructions.py BENCH_DECIDE             shows both; exits 1 where a count has grown to more than LIMIT times
    instructions.py BENCH_DECIDE --write     makes the new counts the baseline
    instructions.py --self-test              shows on made-up counts that the check can fail

Seconds depend on the machine and on what else it does; the instructions of a seeded run depend on the compiler and its
library alone. They are counted by valgrind (callgrind), and only while the engine works: in Meter::apply, which takes the
events, and Meter::decide. What they do not show is waiting for memory.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).parent / "baseline.json"
LIMIT = 1.3
PODS = 1000
RUNS = {
    "1,000 nodes, 1 shape": ["--nodes", "1000", "--shapes", "1"],
    "1,000 nodes, 10 shapes": ["--nodes", "1000", "--shapes", "10"],
    "1,000 nodes, 100 shapes": ["--nodes", "1000", "--shapes", "100"],
    "1,000 nodes, 10 shapes, 1,000 pods waiting": ["--nodes", "1000", "--shapes", "10", "--waiting", "1000"],
    "1,000 nodes, 10 shapes, 10,000 pods over quota":
        ["--nodes", "1000", "--shapes", "10", "--waiting", "10000", "--waiting-for", "quota"],
    "1,000 nodes, 10 shapes, 10 quotas contending": ["--nodes", "1000", "--shapes", "10", "--quotas", "10"],
    "1,000 nodes, 10 shapes, 100 quotas contending": ["--nodes", "1000", "--shapes", "10", "--quotas", "100"],
}
PARTS = {"events": "bench::decide::Meter::apply", "decision": "bench::decide::Meter::decide"}


def count(program, options):
    """Instructions for each pod that comes, by part."""
    with tempfile.TemporaryDirectory() as folder:
        profile = f"{folder}/profile"
        figures = f"{folder}/figures"
        output_of(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--separate-threads=no"]
            + [f"--toggle-collect={function}*" for function in PARTS.values()]
            + [program, "--warm-up", "0", "--pods", str(PODS), "--json", figures, *options])
        listing = output_of(["callgrind_annotate", "--inclusive=yes", "--threshold=100", profile])
        compiler = json.loads(pathlib.Path(figures).read_text())["compiler"]
    return {part: inclusive(listing, function) // PODS for part, function in PARTS.items()}, compiler


def output_of(command):
    """What a command prints. One that fails ends the script, with its last words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"instructions: {command[0]}: {error.strerror}")
    if done.returncode != 0:
        sys.exit(f"instructions: {' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def inclusive(listing, function):
    for line in listing.splitlines():
        match = re.match(r"\s*([\d,]+)\s", line)
        if match and f":{function}(" in line:
            return int(match.group(1).replace(",", ""))
    sys.exit(f"instructions: {function} is not in the profile; was it inlined?")


def compare(old, new):
    """Lines of a table, and the runs that have grown beyond LIMIT. One that the baseline does not have is shown as new."""
    lines, grown = [], []
    for run, parts in new.items():
        for part, now in parts.items():
            before = old.get(run, {}).get(part)
            ratio = now / before if before else None
            lines.append(f"{run:<47} {part:<9} {before or '-':>9} {now:>9}   {f'{ratio:.2f}' if ratio else 'new: not judged'}")
            if ratio and ratio > LIMIT:
                grown.append(f"{run}, {part}")
    return lines, grown


def self_test():
    old = {"a": {"decision": 100}}
    cases = [(100, []), (int(100 * LIMIT), []), (int(100 * LIMIT) + 1, ["a, decision"]), (10, [])]
    for now, want in cases:
        if compare(old, {"a": {"decision": now}})[1] != want:
            sys.exit(f"self-test: {now} against 100")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    counts, compiler = {}, ""
    for run, options in RUNS.items():
        counts[run], compiler = count(sys.argv[1], options)
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"compiler": compiler, "runs": {}}
    lines, grown = compare(baseline["runs"], counts)
    print(f"Instructions per pod that comes, {PODS} pods (baseline: {baseline['compiler']}; now: {compiler})")
    print(f"{'run':<47} {'part':<9} {'baseline':>9} {'now':>9}   ratio")
    print("\n".join(lines))
    if "--write" in sys.argv:
        BASELINE.write_text(json.dumps({"compiler": compiler, "runs": counts}, indent=2) + "\n")
    elif grown and compiler != baseline["compiler"]:
        print("Another compiler than the baseline's: growth is shown, not judged.")
    elif grown:
        sys.exit(f"more than {LIMIT} times the baseline: {'; '.join(grown)}. Where that is meant: make instructions-baseline")


if __name__ == "__main__":
    main()
