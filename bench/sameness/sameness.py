#!/usr/bin/env python3
"""Whether two builds decide the same: pod, node, charge, scores, counts, refusals and their words, in order.

    sameness.py BASE NEW                       two `bench` programs: the quick corpora, some minutes
    sameness.py BASE NEW --all --traces DIR    all of them, hours
    sameness.py BASE NEW random mig            those whose names contain one of the words

Exit code: 0 the same; 1 they differ: the first difference of each corpus is shown, and its files are kept; 2 something cannot be run,
for example because one of the two builds ended; the other corpora are still compared.
What the corpora are is in README.md.
"""

import argparse
import collections
import concurrent.futures
import gzip
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import engine
import kinds
import world

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAMPLE = ROOT / "bench/replay/sample"
SEEDS = "42..44"
# Those that both builds have are run; others cannot be compared.
POLICIES = ["default", "usable_gpu", "usable_gpu_both", "usable_gpu_p1", "usable_gpu_p2", "fgd", "best_fit", "dot_prod", "gpu_clustering",
            "gpu_packing", "random", "most_allocated", "spread", "mig"]
CONTEXT = 6  # calls that are shown before a difference


class Difference(Exception):
    """The first one of a corpus, in words, with the files to look at it again: name → text."""

    def __init__(self, words, files=None):
        super().__init__(words)
        self.files = files or {}


# Recordings and random events: calls of the engine.

def keys_that_differ(a, b, path=""):
    """Where two JSON values differ: ("step.bind.node", "a", "b")."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from keys_that_differ(a.get(key), b.get(key), f"{path}.{key}" if path else key)
    elif a != b:
        yield path, a, b


def shortened(line, most=300):
    return line if len(line) <= most else f"{line[:most]}… ({len(line)} characters)"


def difference_at(index, calls, base, new):
    lines = [f"line {i + 1}: {shortened(calls[i])}" for i in range(max(1, index - CONTEXT), index)]
    lines.append(f"line {index + 1}: {shortened(calls[index])}")
    for where, a, b in itertools.islice(keys_that_differ(json.loads(base), json.loads(new)), 8):
        lines += [f"  {where}", f"    base: {shortened(json.dumps(a))}", f"    new:  {shortened(json.dumps(b))}"]
    return "\n".join(lines)


def compare_calls(base, calls, answers):
    """The base's answers with those that the new build gave."""
    if engine.can_answer(base):
        for index, (old, new) in enumerate(zip(engine.answers_of(base, calls), answers)):
            if old != new:
                raise Difference(difference_at(index, calls, old, new), {"calls.jsonl": "\n".join(calls) + "\n"})
        return
    recording = engine.recording_of(calls, answers)
    if found := engine.computes_again(base, recording):
        line, new, old = found
        raise Difference(difference_at(line - 1, recording.splitlines(), f'{{"step":{old}}}', f'{{"step":{new}}}'),
                         {"recording.jsonl": recording})


def random_events(theme, seed, events):
    def compare(base, new, _):
        made = []

        def engine_of(config):
            made.append(engine.Engine(new, engine.header(config)))
            return made[0]

        broken = None
        try:
            try:
                world.World(seed, theme, engine_of).run(events)
            except (KeyError, RuntimeError) as error:  # a decision on a pod that is gone, or decisions without end
                broken = error
            compare_calls(base, made[0].calls, made[0].answers)
            if broken:
                raise engine.EngineError(f"the world breaks on a decision that both make: {broken!r}")
        except engine.EngineError as error:
            error.files = {"calls.jsonl": "\n".join(made[0].calls) + "\n"}
            raise
        return kinds.histogram(made[0].answers)
    return compare


def recording(file):
    def compare(base, new, _):
        text = (gzip.open if file.suffix == ".gz" else open)(file, "rt").read()
        calls = text[:text.rindex("\n")].split("\n")  # a last line that was cut off is no part of it
        answers = engine.answers_of(new, calls)
        compare_calls(base, calls, answers)
        return kinds.histogram(answers)
    return compare


# Traces: what `bench replay` writes.

def trace(nodes, pods, policy, *options):
    def compare(base, new, folder):
        outs = []
        for name, bench in (("base", base), ("new", new)):
            out = folder / name
            outs.append(out)
            run([bench, "replay", "--nodes", nodes, "--pods", pods, "--policy", policy, "--seed", SEEDS, "--jobs", "1",
                 "--out", out, "--decisions", *options])
        counts = collections.Counter()
        for file in ("decisions.jsonl", "steps.csv", "quotas.csv"):
            if any((out / file).exists() for out in outs):
                counts["decisions" if file == "decisions.jsonl" else "lines of figures"] += compare_files(outs[0] / file, outs[1] / file)
        return counts
    return compare


def printed(*arguments):
    """What a subcommand prints, of both."""
    def compare(base, new, folder):
        files = [folder / name for name in ("base", "new")]
        for file, bench in zip(files, (base, new)):
            file.write_text(run([bench, *arguments]))
        return collections.Counter({"lines": compare_files(*files)})
    return compare


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: verdicts that are not upstream's, say
        raise engine.EngineError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def compare_files(base, new):
    """How many lines they have, which are the same."""
    with open(base) as a, open(new) as b:
        number = 0
        for number, (old, now) in enumerate(itertools.zip_longest(a, b, fillvalue=""), 1):
            if old != now:
                raise Difference(f"{new.name}, line {number}\n{words_of(old, now)}")
        return number


def words_of(old, new):
    try:
        found = list(keys_that_differ(json.loads(old), json.loads(new)))
    except json.JSONDecodeError:
        found = [("the line", old.rstrip("\n"), new.rstrip("\n"))]
    lines = [f"  of {shortened(new.rstrip())}"] if len(found) > 0 and found[0][0] != "the line" else []
    for where, a, b in found[:8]:
        lines += [f"  {where}", f"    base: {shortened(json.dumps(a))}", f"    new:  {shortened(json.dumps(b))}"]
    return "\n".join(lines)


# The corpora, by name.

def corpora(options):
    yield from random_corpora(options)
    for file in sorted((HERE / "recordings").glob("*.jsonl.gz")) + options.recording:
        yield f"recording {file.name}", recording(file)
    yield "verdicts", printed("verdicts", *sorted((ROOT / "tests/bench/cases").glob("*.jsonl")))
    yield "MIG placement", printed("mig", "--runs", "2", "--slots", "400", "--gpus", "20", "--jobs", "1")
    nodes, pods = SAMPLE / "nodes.csv", SAMPLE / "pods.csv"
    policies = options.policies
    for policy in policies:
        yield f"sample inflated, {policy}", trace(nodes, pods, policy)
    for policy in policies if options.all else policies[:1]:
        yield f"sample as it came, {policy}", trace(nodes, pods, policy, "--arrival", "trace")
        yield f"sample under quotas, {policy}", trace(nodes, pods, policy, "--arrival", "trace", "--quotas", HERE / "quotas.yaml")
    if options.traces is None:
        return
    nodes = options.traces / "openb_node_list_gpu_node.csv"
    files = sorted(options.traces.glob("openb_pod_list_*.csv"))
    for pods in files if options.all else [file for file in files if file.stem.endswith("_default")]:
        for policy in policies:
            yield f"{pods.stem}, {policy}", trace(nodes, pods, policy, "--typical-pods", "trace")


def random_corpora(options):
    for seed in range(1, options.worlds + 1):
        for theme in world.THEMES:
            yield f"random {theme} {seed}", random_events(theme, seed, options.events)


def policies_of(bench):
    """Those of POLICIES that a build has, by its help."""
    words = run([bench, "replay", "--help"]).replace(",", " ").replace(";", " ").split()
    return [policy for policy in POLICIES if policy in words]


def parse():
    parser = argparse.ArgumentParser(description="Whether two builds decide the same; see bench/sameness/README.md")
    parser.add_argument("base", help="a bench program, the older")
    parser.add_argument("new", help="a bench program with `bench answer`")
    parser.add_argument("only", nargs="*", help="words: the corpora whose names contain one of them")
    parser.add_argument("--all", action="store_true", help="all traces and policies, 40 worlds of each theme, not 3")
    parser.add_argument("--traces", type=pathlib.Path, help="a folder with the openb traces")
    parser.add_argument("--recording", type=pathlib.Path, action="append", default=[], help="a recording besides; repeatable")
    parser.add_argument("--worlds", type=int, help="random worlds of each theme")
    parser.add_argument("--events", type=int, default=3000, help="of a random world (%(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="corpora at a time (%(default)s)")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/sameness/differences", help="where the files of a difference go")
    parser.add_argument("--list", action="store_true", help="the names of the corpora")
    parser.add_argument("--histogram", action="store_true", help="how often each kind of decision occurred")
    options = parser.parse_intermixed_args()
    options.worlds = options.worlds or (40 if options.all else 3)
    return options


def keep(found, folder, name):
    for file, text in found.files.items():
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / f"{name.replace(' ', '-')}-{file}"
        kept.write_text(text)
        yield kept


def compare(name, corpus, options):
    """The counts, which are none after a difference or where it cannot be run; what there is to say; and how it ended, as an exit code."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            counts = corpus(options.base, options.new, pathlib.Path(folder))
        except (Difference, engine.EngineError) as found:
            how, words = (1, "DIFFERENT") if isinstance(found, Difference) else (2, "NOT COMPARED")
            kept = "".join(f"\n  kept: {file}" for file in keep(found, options.keep, name))
            return collections.Counter(), f"{name}: {words}\n{found}{kept}", how
    decided = counts.total() - counts["step: nothing to decide"]
    return counts, f"{name}: the same, {decided} answers", 0


def main():
    options = parse()
    both = [set(policies_of(bench)) for bench in (options.base, options.new)]
    options.policies = [policy for policy in POLICIES if all(policy in known for known in both)]
    chosen = [(name, corpus) for name, corpus in corpora(options) if not options.only or any(word in name for word in options.only)]
    if options.list:
        return print("\n".join(name for name, _ in chosen))
    if not chosen:
        sys.exit("sameness: no corpus has such a name; --list shows them")
    total, ended = collections.Counter(), {0: [], 1: [], 2: []}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {name: pool.submit(compare, name, corpus, options) for name, corpus in chosen}
        for name, result in running.items():
            counts, words, how = result.result()
            print(words, flush=True)
            total.update(counts)
            ended[how].append(name)
    if options.histogram:
        for kind, count in sorted(total.items()):
            print(f"{count:>9} {kind}")
    missing = [kind for kind in kinds.WANTED if kind not in total]
    if missing and not options.only:
        print("not tried: " + ", ".join(missing))
    if alone := both[0] ^ both[1]:
        print("not compared, for one of them has no such policy: " + ", ".join(sorted(alone)))
    for how, words in (1, "DIFFERENT in"), (2, "NOT COMPARED:"):
        if ended[how]:
            print(f"{words} {len(ended[how])} of {len(chosen)} corpora: " + ", ".join(ended[how]))
    if ended[1] or ended[2]:
        sys.exit(2 if ended[2] else 1)
    print(f"the same: {len(chosen)} corpora, {total.total() - total['step: nothing to decide']} answers")


if __name__ == "__main__":
    main()
