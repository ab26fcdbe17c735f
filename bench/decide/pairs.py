#!/usr/bin/env python3
"""How fast two builds decide, in pairs of runs by turns: what else a shared machine does meets both.

    pairs.py BASE NEW                  two `bench-decide`: seven pairs of each cell; exits 1 where a median is below 0.97
    pairs.py BASE NEW --minutes 20     as many rounds as there is time for, of all cells each; at least one

A cell is a number of nodes, of shapes, and who waits. Each pair is one run of each build, one after the other, the first of them by
turns; its ratio is new / base of decisions/s. What is judged is the median of a cell's ratios. Bytes per node, pod and shape are counted, so
one run says it: none may be more than one in a thousand above the base's.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time

CELLS = [(nodes, shapes, []) for nodes in (1_000, 10_000, 100_000) for shapes in (1, 10, 100)] + [
    (10_000, 10, ["--waiting", "10000"]), (10_000, 10, ["--waiting", "10000", "--waiting-for", "quota"]), (1_000, 10, ["--quotas", "100"])]
LEAST = 0.97
MOST_BYTES = 1.001
BYTES = ("bytes_per_node", "bytes_per_pod", "bytes_per_shape")


def measure(program, cell, pods):
    nodes, shapes, options = cell
    with tempfile.NamedTemporaryFile("r", suffix=".json") as figures:
        done = subprocess.run([program, "--nodes", str(nodes), "--shapes", str(shapes), "--pods", str(pods), "--json", figures.name, *options],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"pairs: {program} ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.load(figures)["runs"][0]


def named(cell):
    nodes, shapes, options = cell
    return f"{nodes:,} nodes, {shapes} shape{'s' if shapes > 1 else ''}" + (f", {' '.join(options)}" if options else "")


def pair(programs, cell, pods, number):
    """The two runs' figures, base first; which runs first changes with each pair."""
    runs = [None, None]
    for which in (0, 1) if number % 2 == 0 else (1, 0):
        runs[which] = measure(programs[which], cell, pods)
    return runs


def judge(ratios):
    """Lines of a table, and the cells that are too slow. `ratios`: cell → of decisions/s, of all events."""
    lines, slow = [], []
    for cell, pairs in ratios.items():
        decisions, events = (statistics.median(each) for each in zip(*pairs))
        spread = f"{min(ratio for ratio, _ in pairs):.3f} … {max(ratio for ratio, _ in pairs):.3f}"
        lines.append(f"{cell:<62} {len(pairs):>5}   {decisions:.3f}   {spread}   {events:.3f}")
        if decisions < LEAST:
            slow.append(cell)
    return lines, slow


def grown(base, new):
    return [f"{what} {base[what]:.1f} → {new[what]:.1f}" for what in BYTES if base[what] > 0 and new[what] > MOST_BYTES * base[what]]


def self_test():
    cases = [([0.96, 0.98, 0.99], []), ([0.96, 0.96, 1.2], ["a"]), ([0.97], [])]
    for ratios, want in cases:
        if judge({"a": [(ratio, 1.0) for ratio in ratios]})[1] != want:
            sys.exit(f"self-test: {ratios}")
    if grown({what: 100 for what in BYTES}, {what: 100.05 for what in BYTES}) or not grown(
            {what: 100 for what in BYTES}, {what: 101 for what in BYTES}):
        sys.exit("self-test: bytes")


def parse():
    parser = argparse.ArgumentParser(description="How fast two builds decide, in pairs")
    parser.add_argument("base", help="a bench-decide, the older")
    parser.add_argument("new", help="a bench-decide")
    parser.add_argument("only", nargs="*", help="words: the cells whose names contain one of them")
    parser.add_argument("--pairs", type=int, default=7, help="(%(default)s)")
    parser.add_argument("--pods", type=int, default=50_000, help="of each run (%(default)s)")
    parser.add_argument("--minutes", type=float, help="no round of all cells begins that would not end by then")
    return parser.parse_intermixed_args()


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    options = parse()
    cells = [cell for cell in CELLS if not options.only or any(word in named(cell) for word in options.only)]
    if not cells:
        sys.exit("pairs: no cell has such a name")
    ratios, heavier, begin = {}, {}, time.monotonic()
    for number in range(options.pairs):
        spent = (time.monotonic() - begin) / 60
        if number > 0 and options.minutes and spent * (number + 1) / number > options.minutes:
            print(f"no time for more than {number} of {options.pairs} pairs")
            break
        for cell in cells:
            base, new = pair((options.base, options.new), cell, options.pods, number)
            ratios.setdefault(named(cell), []).append(
                (new["decisions_per_second"] / base["decisions_per_second"], new["pods_per_second"] / base["pods_per_second"]))
            heavier[named(cell)] = grown(base, new)
    lines, slow = judge(ratios)
    print(f"{'cell':<62} pairs   decisions/s, new / base: median, extremes   all events")
    print("\n".join(lines))
    heavy = [f"{cell}: {', '.join(more)}" for cell, more in heavier.items() if more]
    if heavy:
        print("more memory: " + "; ".join(heavy))
    if slow:
        print(f"slower than {LEAST} times the base: {'; '.join(slow)}")
    sys.exit(1 if slow or heavy else 0)


if __name__ == "__main__":
    main()
