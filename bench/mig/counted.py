#!/usr/bin/env python3
"""MIG instances that are counted, as on a live cluster: a made-up trace, and what became of it.

    counted.py make FOLDER [--load 0.95] [--seed 1]     writes nodes.csv and pods.csv for `bench replay`
    counted.py tally FOLDER DECISIONS                   refused, by what was asked for, and nodes left untouched

Nodes have A100-80GB: whole ones, ones partitioned by mig-manager's all-balanced, and ones of which half of the GPUs are.
Pods ask for one instance, for two kinds of them, or for one to eight whole GPUs, with a CPU demand that varies, so that
CPU is now and then what is short. They come as a Poisson stream, live for log-normal times, and are refused where
they do not fit. `load` is what they would hold of the memory slices on average.

Only random.random() is drawn from, whose sequence Python keeps from version to version.
"""

import argparse
import csv
import json
import math
import pathlib
import random

PRODUCT = "NVIDIA-A100-SXM4-80GB"
GPU = "nvidia.com/gpu"
INSTANCES = {"nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-2g.20gb": 2, "nvidia.com/mig-3g.40gb": 4}
SLICES = {GPU: 8, **INSTANCES}
SMALL, MIDDLE, LARGE = INSTANCES

# count, name, CPU, whole GPUs, GPUs partitioned as all-balanced (2 x 1g, 1 x 2g, 1 x 3g)
NODES = [(12, "whole", 128, 8, 0), (12, "half", 96, 4, 4), (12, "balanced", 96, 0, 8)]

# weight, what is asked for, CPU of a small, usual and large pod
KINDS = [
    (30, {SMALL: 1}, (1, 2, 6)),
    (16, {MIDDLE: 1}, (2, 4, 10)),
    (14, {LARGE: 1}, (4, 8, 16)),
    (3, {SMALL: 2}, (2, 4, 8)),
    (3, {SMALL: 1, LARGE: 1}, (6, 10, 16)),
    (14, {GPU: 1}, (4, 10, 16)),
    (4, {GPU: 2}, (8, 16, 32)),
    (2, {GPU: 4}, (32, 48, 64)),
    (1, {GPU: 8}, (64, 96, 112)),
]
PODS = 12_000
WARM_UP = 0.25
MEAN_LIFE = 3600.0
SIGMA = 1.0


def slices(asked):
    return sum(SLICES[resource] * amount for resource, amount in asked.items())


def draw(rng, weighted):
    at = rng.random() * sum(weight for weight, *_ in weighted)
    for weight, *rest in weighted:
        at -= weight
        if at < 0:
            return rest
    return weighted[-1][1:]


def gauss(rng):
    return math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())


def make(folder, load, seed):
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    capacity = 0
    with open(folder / "nodes.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["name", "cpu", "memory", "gpus", "gpu_model", "label:nvidia.com/mig.strategy"]
                     + [f"resource:{name}" for name in INSTANCES])
        for count, name, cpu, whole, balanced in NODES:
            capacity += count * 8 * (whole + balanced)
            for i in range(count):
                out.writerow([f"{name}-{i:02}", cpu, "2Ti", whole, PRODUCT, "mixed", 2 * balanced, balanced, balanced])
    mean = sum(weight * slices(asked) for weight, asked, _ in KINDS) / sum(weight for weight, *_ in KINDS)
    rate = load * capacity / mean / MEAN_LIFE
    time = 0.0
    with open(folder / "pods.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["name", "cpu", "memory", "gpus", "created", "deleted"] + [f"resource:{name}" for name in INSTANCES])
        for i in range(PODS):
            time -= math.log(1 - rng.random()) / rate
            asked, cpu = draw(rng, KINDS)
            life = max(1, MEAN_LIFE * math.exp(SIGMA * gauss(rng) - SIGMA * SIGMA / 2))
            out.writerow([f"pod-{i:05}", cpu[int(rng.random() * 3)], "8Gi", asked.get(GPU, 0), f"{time:.0f}",
                          f"{time + life:.0f}"] + [asked.get(name, "") or "" for name in INSTANCES])


def read_pods(folder):
    pods = {}
    with open(folder / "pods.csv", newline="") as file:
        for row in csv.DictReader(file):
            asked = {GPU: int(row["gpus"])} | {name: int(row[f"resource:{name}"] or 0) for name in INSTANCES}
            pods[row["name"]] = ({k: v for k, v in asked.items() if v}, float(row["created"]), float(row["deleted"]))
    return pods


def kind_of(asked):
    return " + ".join(f"{amount} {resource.removeprefix('nvidia.com/')}" for resource, amount in asked.items())


def tally(folder, decisions):
    pods = read_pods(folder)
    start = sorted(created for _, created, _ in pods.values())[int(WARM_UP * len(pods))]
    end = max(created for _, created, _ in pods.values())
    asked_for, refused, busy = {}, {}, {}
    for line in open(decisions):
        decision = json.loads(line)
        asked, created, deleted = pods[decision["pod"].split("/")[-1]]
        if decision["node"]:
            busy.setdefault(decision["node"], []).append((max(created, start), min(deleted, end)))
        if created < start:
            continue
        for total in (kind_of(asked), "all"):
            asked_for[total] = asked_for.get(total, 0) + slices(asked)
            refused[total] = refused.get(total, 0) + (0 if decision["node"] else slices(asked))
    result = {kind: 100 * refused[kind] / asked_for[kind] for kind in asked_for}
    nodes = sum(count for count, *_ in NODES)
    used = sum(covered(spans) for spans in busy.values()) / (end - start)
    result["untouched nodes"] = nodes - used
    return result


def covered(spans):
    total, until = 0.0, -math.inf
    for begin, finish in sorted(spans):
        if finish > max(begin, until):
            total += finish - max(begin, until)
            until = finish
    return total


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make")
    making.add_argument("folder", type=pathlib.Path)
    making.add_argument("--load", type=float, default=0.95)
    making.add_argument("--seed", type=int, default=1)
    tallying = verbs.add_parser("tally")
    tallying.add_argument("folder", type=pathlib.Path)
    tallying.add_argument("decisions", type=pathlib.Path)
    args = parser.parse_args()
    if args.verb == "make":
        return make(args.folder, args.load, args.seed)
    for kind, percent in tally(args.folder, args.decisions).items():
        print(f"{kind:<40} {percent:.2f}")


if __name__ == "__main__":
    main()
