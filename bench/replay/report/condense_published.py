#!/usr/bin/env python3
"""Condenses the published curves of allocation to means and deviations over the seeds.

    condense_published.py analysis_allo_discrete.csv > openb_published.csv

Reads one row per workload, policy and seed ("06-FGD": the number only sorts) with the allocated % of
the cluster's GPUs at 0 … 130 % of arrival. Writes two rows per workload and policy: the mean over
its seeds, exact, and the population standard deviation, rounded to hundredths.
"""

import csv
import statistics
import sys
from collections import defaultdict

STEPS = 131


def read(path):
    """(workload, policy) → one list of allocated % per seed."""
    curves = defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            curves[row["workload"], row["sc_policy"]].append([float(row[str(x)]) for x in range(STEPS)])
    return curves


def short(value, decimals):
    text = f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    return text[1:] if text.startswith("0.") else text


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    write(["trace", "policy", "figure", *range(STEPS)])
    for (workload, policy), seeds in sorted(read(sys.argv[1]).items()):
        at_each_x = list(zip(*seeds))
        name = policy.split("-", 1)[1]
        write([workload, name, "mean", *(short(statistics.mean(y), 3) for y in at_each_x)])
        write([workload, name, "sd", *(short(statistics.pstdev(y), 2) for y in at_each_x)])


if __name__ == "__main__":
    main()
