#!/usr/bin/env python3
"""Searches with libFuzzer for inputs that break a fuzz target; see README.md.

    fuzz.py                                all targets, a minute each, one after the other
    fuzz.py --seconds 3600 yaml object     these, an hour each
    fuzz.py --self-test                    shows that what libFuzzer prints is read

Needs clang-14 and libclang-rt-14-dev. Builds the preset `fuzz`. What a search finds new is kept in build/fuzz/corpus/TARGET, where
the next one goes on; an input that breaks a target is left in build/fuzz/findings. What has been run in all is kept in
build/fuzz/runs.json and printed at the end. Exits 1 if anything was found.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/fuzz"
BUILD = ROOT / "build/fuzz"
FINDINGS = BUILD / "findings"
RUNS = BUILD / "runs.json"
LONGEST = 8192  # of an input, as of mutator.cc


def all_targets():
    return sorted(source.name.removesuffix("_fuzz.cc") for source in HERE.glob("*_fuzz.cc"))


def build(targets):
    if not shutil.which("clang++-14"):
        sys.exit("fuzz: needs clang: apt-get install clang-14 libclang-rt-14-dev")
    log = ROOT / "build/logs/fuzz-build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"building {len(targets)} targets …", flush=True)
    with open(log, "w") as out:
        for command in (["cmake", "--preset", "fuzz"],
                        ["cmake", "--build", "--preset", "fuzz", "--target", *(f"libfuzzer_{name}" for name in targets)]):
            if subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT).returncode != 0:
                sys.exit(f"fuzz: does not build; see {log.relative_to(ROOT)}")


def figures_of(text):
    """Executions and edges covered, of what libFuzzer printed; what it did not come to say is 0."""
    executions = re.findall(r"^(?:stat::number_of_executed_units: |#)(\d+)", text, re.MULTILINE)
    edges = re.findall(r"\bcov: (\d+)", text)
    return max(map(int, executions), default=0), int(edges[-1]) if edges else 0


def run(name, seconds):
    """One search: executions, seconds, edges, and whether it found something."""
    corpus = BUILD / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    FINDINGS.mkdir(parents=True, exist_ok=True)
    log = ROOT / f"build/logs/fuzz-{name}.log"
    started = time.monotonic()
    with open(log, "w") as out:
        status = subprocess.run(
            [BUILD / f"bin/libfuzzer_{name}", f"-dict={HERE}/dictionary/{name}.txt", f"-max_total_time={seconds}", f"-max_len={LONGEST}",
             "-print_final_stats=1", f"-artifact_prefix={FINDINGS}/{name}-", corpus, HERE / "corpus" / name],
            stdout=out, stderr=subprocess.STDOUT).returncode
    executions, edges = figures_of(log.read_text(errors="replace"))
    return {"executions": executions, "seconds": round(time.monotonic() - started), "edges": edges, "found": status != 0}


def add_to_runs(name, figures):
    """What has been run of a target in all, this run included."""
    runs = json.loads(RUNS.read_text()) if RUNS.exists() else {}
    before = runs.get(name, {"executions": 0, "seconds": 0})
    runs[name] = {key: before[key] + figures[key] for key in before}
    RUNS.write_text(json.dumps(runs, indent=2) + "\n")
    return runs[name]


def search(targets, seconds):
    build(targets)
    found = []
    print(f"{'target':<16} {'executions':>12} {'seconds':>8} {'edges':>7}   in all")
    for name in targets:
        figures = run(name, seconds)
        total = add_to_runs(name, figures)
        print(f"{name:<16} {figures['executions']:>12,} {figures['seconds']:>8} {figures['edges']:>7}   "
              f"{total['executions']:,} in {total['seconds']:,} s" + ("   FOUND SOMETHING" if figures["found"] else ""), flush=True)
        if figures["found"]:
            found.append(name)
    if found:
        sys.exit("\n".join(f"{name}: the end of build/logs/fuzz-{name}.log says what; the input is in {FINDINGS.relative_to(ROOT)}" for name in found))


def self_test():
    cases = [("#2\tINITED cov: 7 ft: 8\n#512\tNEW    cov: 9 ft: 9 corp: 1/1b\nDone 600 runs\nstat::number_of_executed_units: 600\n", (600, 9)),
             ("#2\tINITED cov: 7 ft: 8\n#512\tREDUCE cov: 9 ft: 9\n==1==ERROR: AddressSanitizer\n", (512, 9)), ("", (0, 0))]
    for text, want in cases:
        if figures_of(text) != want:
            sys.exit(f"self-test: {figures_of(text)}, not {want}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description="Searches with libFuzzer for inputs that break a fuzz target")
    parser.add_argument("targets", nargs="*", help="without any: all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    options = parser.parse_args()
    unknown = set(options.targets) - set(all_targets())
    if unknown:
        sys.exit(f"fuzz: there is no target {', '.join(sorted(unknown))}; there are {', '.join(all_targets())}")
    search(options.targets or all_targets(), options.seconds)


if __name__ == "__main__":
    main()
