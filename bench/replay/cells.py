#!/usr/bin/env python3
"""Compares the policies of replays cell by cell: a cell is a trace under an arrival mode, its value
the mean of a figure over the seeds.

  bench replay … --arrival stationary:95 --when-full queue --out DIR
  bench/replay/cells.py DIR/summary.json … --of default

prints a table of the cells, and for each other policy in how many of them --of is ahead (has the
smaller value), and in which it is furthest behind. Values that differ by no more than --margin are
equal: a difference of a few GPU-hours where hardly anything waits says nothing.
"""

import argparse
import json
import statistics
import sys


def read(paths):
    """{(trace, arrival): {policy: [value by seed]}}, and the policies in their order."""
    cells, policies = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
        for run in summary["runs"]:
            value = run["figures"].get(ARGS.figure)
            if value is None:
                sys.exit(f"{path}: its runs have no figure {ARGS.figure}")
            if run["policy"] not in policies:
                policies.append(run["policy"])
            cell = cells.setdefault((run["trace"], run["arrival"]), {})
            seeds = cell.setdefault(run["policy"], {})
            if run["seed"] in seeds:
                sys.exit(f"{path}: {run['trace']}, {run['policy']}, seed {run['seed']} twice")
            seeds[run["seed"]] = value
    return cells, policies


def compared(cells, other):
    """Of --of with another policy: ahead, equal, behind, and the worst (ratio, cell)."""
    ahead = equal = behind = 0
    worst = (0.0, None)
    for name, cell in cells.items():
        if ARGS.of not in cell or other not in cell:
            continue
        own, its = (statistics.mean(cell[policy].values()) for policy in (ARGS.of, other))
        if abs(own - its) <= ARGS.margin:
            equal += 1
        elif own < its:
            ahead += 1
        else:
            behind += 1
            ratio = own / its - 1 if its > 0 else float("inf")
            worst = max(worst, (ratio, name), key=lambda pair: pair[0])
    return ahead, equal, behind, worst


def main():
    cells, policies = read(ARGS.summaries)
    if ARGS.of not in policies:
        sys.exit(f"no run of {ARGS.of}")
    print("| trace | arrival | " + " | ".join(policies) + " |")
    print("|---|---|" + "---|" * len(policies))
    for (trace, arrival), cell in sorted(cells.items()):
        values = [
            f"{statistics.mean(cell[policy].values()):.{ARGS.decimals}f}" if policy in cell else "–"
            for policy in policies
        ]
        print(f"| {trace} | {arrival} | " + " | ".join(values) + " |")
    print()
    for other in policies:
        if other == ARGS.of:
            continue
        ahead, equal, behind, (ratio, cell) = compared(cells, other)
        text = f"{ARGS.of} and {other}: ahead in {ahead}, equal in {equal}, behind in {behind}"
        if cell is not None:
            text += f", by at most {100 * ratio:.1f} % ({cell[0]}, {cell[1]})"
        print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("summaries", nargs="+", metavar="SUMMARY.json")
    parser.add_argument("--of", default="default", help="the policy that is compared")
    parser.add_argument("--figure", default="gpu_waiting", help="less is better")
    parser.add_argument("--margin", type=float, default=0.0)
    parser.add_argument("--decimals", type=int, default=2)
    ARGS = parser.parse_args()
    main()
