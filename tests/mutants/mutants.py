#!/usr/bin/env python3
"""Changes the product a little, in many ways, and reports which changes no test notices.

  mutants.py                          300 mutants, drawn by seed 1
  mutants.py --count 500 --seed 7     others
  mutants.py --under scheduler/quota  of that folder (or file) alone; may be given several times
  mutants.py --at scheduler/engine/intake.cc:150   all of those lines
  mutants.py --list                   the changes it would try
  mutants.py --drawn-alone            builds with the drawn ones alone: quicker, if no other draw is to follow

All mutants are in one build, each switched on by the environment variable GPU_SCHEDULER_MUTANT. A first
run of the tests notes which test cases reach which mutants; a mutant is then tried with these alone, the
quickest first, until one fails. See tests/mutants/README.md.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import sites

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "build/mutants"
TREE = HOME / "tree"
BUILD = HOME / "build"
FOLDERS = ("scheduler", "plugins", "k8s-client")
COPIED = FOLDERS + ("bench", "cmake", "docs", "tests", "manifests", "CMakeLists.txt")
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.txt")
FLAGS = "-O1 -D_GLIBCXX_ASSERTIONS"
# Each run has processes of its own alone: a mutant of what ends processes could name all there are.
APART = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--pid", "--fork",
         "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]
MEMORY = 6 << 30  # of a process under test
QUICK = 200       # milliseconds; test cases that take longer come after the others


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cc", ".h"):
                yield path.relative_to(ROOT).as_posix()


def key_of(mutant):
    """What names a mutant whatever the lines above it: for equivalent.txt and for drawing lots."""
    return f"{mutant.path}: {mutant.kind}: {mutant.before} → {mutant.after}"


def all_mutants():
    """Every mutant there is, by file, numbered. Those of one key are told apart by #2, #3, …

    After each file some numbers are left free, so that a change of one does not mean another text of all others."""
    by_path, begin, seen = {}, 1, collections.Counter()
    for path in sources():
        source = sites.Source(path, (ROOT / path).read_text())
        by_path[path] = source
        for number, mutant in enumerate(source.mutants, begin):
            mutant.number = number
            mutant.key = key_of(mutant)
            seen[mutant.key] += 1
            if seen[mutant.key] > 1:
                mutant.key += f" #{seen[mutant.key]}"
            mutant.last_line = max(source.line_of(end) for _, end, *_ in mutant.wraps + mutant.replaces)
        begin += (len(source.mutants) + 150) // 100 * 100
    return by_path


def write_if_other(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def copy_tree(by_path, put_in):
    """The tree with these mutants in it."""
    kept = set()
    for name in COPIED:
        whole = ROOT / name
        for path in [whole] if whole.is_file() else whole.rglob("*"):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            relative = path.relative_to(ROOT).as_posix()
            kept.add(relative)
            if relative in by_path:
                source = by_path[relative]
                write_if_other(TREE / relative, sites.rewritten(
                    source, [each for each in source.mutants if each.key in put_in]))
                continue
            to = TREE / relative
            if not to.exists() or to.stat().st_mtime != path.stat().st_mtime:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to)
    for path in list(TREE.rglob("*")):
        if path.is_file() and path.relative_to(TREE).as_posix() not in kept:
            path.unlink()


def test_programs():
    """Names of the executables with unit tests of the folders that are mutated, and of the plugins that read GPUs one by one."""
    names = []
    for folder in (*FOLDERS, "bench/policies"):
        for path in sorted((ROOT / "tests" / folder).rglob("CMakeLists.txt")):
            names += re.findall(r"unit_tests\((\w+)", path.read_text())
    return names


def run(command, log, **options):
    with open(log, "w") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, **options).returncode


def build(by_path, programs, chosen):
    """Builds with those of the mutants that are chosen, given the names of those that do not compile.

    What is refused by the compiler is left out, and it is tried again. Returns the names of what is left out."""
    remembered = HOME / "refused.json"
    refused = set(json.loads(remembered.read_text())) if remembered.exists() else set()
    known = {mutant.key for source in by_path.values() for mutant in source.mutants}
    refused &= known
    for attempt in range(1, 12):
        put_in = chosen(refused)
        copy_tree(by_path, put_in)
        log = HOME / f"build-{attempt}.log"
        if not (BUILD / "build.ninja").exists():
            configure = ["cmake", "-S", str(TREE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                         f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16",
                         "-DGPU_SCHEDULER_MUTANTS=ON"]
            if shutil.which("ccache"):
                configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
            if run(configure, log) != 0:
                sys.exit(f"mutants: cannot configure; see {log}")
        done = run(["nice", "cmake", "--build", str(BUILD), "--", "-k", "0", f"-j{os.cpu_count()}", *programs], log)
        if done == 0:
            remembered.write_text(json.dumps(sorted(refused), ensure_ascii=False, indent=0))
            return refused
        at_fault = mutants_at_fault(by_path, log.read_text(errors="replace"), put_in)
        if not at_fault:
            sys.exit(f"mutants: does not compile, and no mutant is at fault; see {log}")
        print(f"{len(at_fault)} mutants do not compile", flush=True)
        refused |= at_fault
    sys.exit("mutants: does not compile")


def mutants_at_fault(by_path, log, put_in):
    places = set()
    for match in re.finditer(r"^(\S+?):(\d+):\d+: +(?:error|required from|fatal error)", log, re.M):
        path = match.group(1)
        for root in (str(TREE) + "/", "tree/"):
            if root in path:
                path = path.split(root)[-1]
        path = path.lstrip("./")
        if path in by_path:
            places.add((path, int(match.group(2))))
    found = set()
    for path, line in places:
        alive = [each for each in by_path[path].mutants if each.key in put_in]
        on_it = [each for each in alive if line in (each.line, each.last_line)]
        found |= {each.key for each in on_it or [each for each in alive if each.line <= line <= each.last_line]}
    return found


class TestCase:
    def __init__(self, program, name, milliseconds, by_processor):
        self.program, self.name, self.milliseconds, self.by_processor = program, name, milliseconds, by_processor


class Limits:
    """Of one run. The processor's time does not depend on what else the machine does; what hangs uses none."""

    def __init__(self, cases):
        self.seconds = 60 + sum(case.milliseconds for case in cases) // 50
        self.by_processor = 10 + sum(case.by_processor for case in cases) // 100

    def set(self):
        resource.setrlimit(resource.RLIMIT_CPU, (self.by_processor, self.by_processor + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_tests(program, mutant, cases, reached=None, log=None):
    """The exit code of these test cases with that mutant switched on, 128 and a signal's number after a crash;
    None: they took too long. All test cases: None."""
    limits = Limits(cases or [])
    with tempfile.TemporaryDirectory(dir=HOME) as here:
        environment = dict(os.environ, GPU_SCHEDULER_MUTANT=str(mutant))
        if reached:
            environment["GPU_SCHEDULER_MUTANTS_REACHED"] = str(reached)
        command = ["nice", *APART, str(BUILD / "bin" / program)]
        if cases is not None:
            names = pathlib.Path(here, "cases")
            names.write_text("".join(escaped(case.name) + "\n" for case in cases))
            command += ["--abort", "-f", str(names)]
        with open(log or os.devnull, "w") as out:
            process = subprocess.Popen(command, cwd=here, env=environment, stdout=out, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, preexec_fn=limits.set if cases else None,
                                       start_new_session=True)
            try:
                code = process.wait(timeout=limits.seconds if cases else None)
                return None if code == 128 + signal.SIGXCPU else code
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return None


def escaped(name):
    return re.sub(r'([\\,\["])', r"\\\1", name)


def coverage(programs):
    """The test cases, and by mutant which of them reach it. Remembered until a program is built anew."""
    by_mutant = collections.defaultdict(list)
    for program in programs:
        binary = BUILD / "bin" / program
        reached = HOME / "reached" / f"{program}.txt"
        reached.parent.mkdir(exist_ok=True)
        if not reached.exists() or reached.stat().st_mtime < binary.stat().st_mtime:
            fresh = reached.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            log = HOME / f"{program}.log"
            if run_tests(program, 0, None, reached=fresh, log=log) != 0:
                sys.exit(f"mutants: {program} fails without any mutant; see {log}")
            fresh.rename(reached)
        always, cases = [], []
        for line in reached.read_text().splitlines():
            milliseconds, by_processor, name, numbers = line.split("\t")
            numbers = [int(number) for number in numbers.split()]
            if not name:
                always += numbers
                continue
            case = TestCase(program, name, int(milliseconds), int(by_processor))
            cases.append(case)
            for number in numbers:
                by_mutant[number].append(case)
        for number in always:
            by_mutant[number] += cases
    return by_mutant


def killer(mutant, cases):
    """What noticed the mutant, as words; None: nothing did."""
    batches = collections.OrderedDict()
    for case in sorted(cases, key=lambda case: case.milliseconds):
        batches.setdefault((case.milliseconds > QUICK, case.program), []).append(case)
    order = sorted(batches.items(), key=lambda each: (each[0][0], sum(case.milliseconds for case in each[1])))
    for (_, program), batch in order:
        code = run_tests(program, mutant.number, batch)
        if code != 0:
            return f"{program}{' (takes too long)' if code is None else ' (crash)' if code > 128 else ''}"
    return None


def equivalents():
    """By key the reason why nobody can notice the mutant: paragraphs of a reason and the mutants under it."""
    reasons = {}
    for paragraph in re.split(r"\n\s*\n", EQUIVALENT.read_text()):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        reason = " ".join(line[2:] for line in lines if line.startswith("# "))
        for line in lines:
            if line.startswith("# "):
                continue
            if not reason:
                sys.exit(f"equivalent.txt gives no reason for {line}")
            reasons[line] = reason
    return reasons


def drawn(mutants, seed, count):
    """So many of them, the same for the same seed; another mutant in the tree changes few of them."""
    def lot(mutant):
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()
    return sorted(mutants, key=lot)[:count]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=300)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--under", action="append", default=[])
    words.add_argument("--at", action="append", default=[])
    words.add_argument("--program", action="append", default=[], help="only the tests of these executables")
    words.add_argument("--minutes", type=float, default=60, help="no mutant is begun later")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--list", action="store_true")
    words.add_argument("--drawn-alone", action="store_true", help="build with the drawn mutants alone")
    asked = words.parse_args()

    by_path = all_mutants()
    mutants = [each for source in by_path.values() for each in source.mutants]
    if asked.under:
        mutants = [each for each in mutants
                   if any(each.path == under or each.path.startswith(under.rstrip("/") + "/") for under in asked.under)]
    if asked.at:
        at = [place.rsplit(":", 1) for place in asked.at]
        mutants = [each for each in mutants
                   if any(each.path == path and each.line <= int(line) <= each.last_line for path, line in at)]
    reasons = equivalents()
    unknown = set(reasons) - {each.key for source in by_path.values() for each in source.mutants}
    for key in sorted(unknown):
        print(f"equivalent.txt names what is not there: {key}")
    mutants = [each for each in mutants if each.key not in reasons]
    if asked.list:
        for each in mutants if asked.at else drawn(mutants, asked.seed, asked.count):
            print(f"{each.path}:{each.line}: {each.words()}")
        return 0

    HOME.mkdir(parents=True, exist_ok=True)
    programs = asked.program or test_programs()
    def sample_of(refused):
        left = [each for each in mutants if each.key not in refused]
        return left if asked.at else drawn(left, asked.seed, asked.count)

    def chosen(refused):
        if asked.drawn_alone:
            return {each.key for each in sample_of(refused)}
        return {each.key for source in by_path.values() for each in source.mutants} - refused

    began = time.monotonic()
    refused = build(by_path, programs, chosen)
    print(f"built in {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    by_mutant = coverage(programs)
    print(f"test cases run in {time.monotonic() - began:.0f} s", flush=True)
    sample = sample_of(refused)

    began = time.monotonic()
    results = {}
    lock = threading.Lock()

    def attempt(mutant):
        if time.monotonic() - began > asked.minutes * 60:
            return
        cases = by_mutant.get(mutant.number, [])
        by = killer(mutant, cases)
        with lock:
            results[mutant.key] = (mutant, by, len(cases))
            if by is None:
                print(f"SURVIVES {mutant.path}:{mutant.line}: {mutant.words()}"
                      f"{'' if cases else '   (no test reaches it)'}", flush=True)
            elif asked.at:
                print(f"killed   {mutant.path}:{mutant.line}: {mutant.words()}   by {by}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as workers:
        list(workers.map(attempt, sample))
    return report(results, len(sample), asked, time.monotonic() - began)


def report(results, wanted, asked, seconds):
    folders = collections.defaultdict(lambda: [0, 0])
    for mutant, by, _ in results.values():
        folder = "/".join(mutant.path.split("/")[:2]) if mutant.path.startswith("scheduler") else mutant.path.split("/")[0]
        for name in (folder, "all"):
            folders[name][0] += by is not None
            folders[name][1] += 1
    print(f"\n{len(results)} of {wanted} mutants tried in {seconds:.0f} s, seed {asked.seed}")
    for name, (killed, tried) in sorted(folders.items(), key=lambda each: (each[0] == "all", each[0])):
        print(f"  {name:24} {killed:4} of {tried:4} killed  {100 * killed / tried:3.0f} %")
    (HOME / "results.json").write_text(json.dumps(
        [{"mutant": key, "line": mutant.line, "killed_by": by, "test_cases": cases}
         for key, (mutant, by, cases) in sorted(results.items())], ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
