#!/usr/bin/env python3
"""Makes the sample trace: nodes.csv and pods.csv beside this file.

A made-up company with 34 GPU nodes of four models and two without, and two weeks of its pods:
services that run throughout, notebooks by day, evaluations, fine-tuning, large training runs, and
preprocessing without GPU. Weekdays ask for more than there is around noon, nights and the weekend
for less, so that queues build up and drain. Nothing is copied from anybody's cluster.

Only random.random() is drawn from, whose sequence Python keeps from version to version: the same
seed gives the same files. With --check, compares them with what is there instead of writing.
"""

import argparse
import csv
import io
import math
import pathlib
import random
import sys

SEED = 20
DAYS = 14
HOUR = 3600

H100 = "NVIDIA-H100-80GB-HBM3"
A100 = "NVIDIA-A100-SXM4-80GB"
L40S = "NVIDIA-L40S"
T4 = "Tesla-T4"

# count, name, cpu, memory, GPUs, model
NODES = [
    (4, "h100", 192, "2Ti", 8, H100),
    (10, "a100", 128, "1Ti", 8, A100),
    (12, "l40s", 64, "512Gi", 4, L40S),
    (8, "t4", 48, "192Gi", 4, T4),
    (2, "cpu", 96, "768Gi", 0, ""),
]

WORKING_HOURS = [0.2, 0.1, 0.1, 0.1, 0.1, 0.2, 0.4, 0.8, 1.6, 2.2, 2.4, 2.2,
                 1.8, 2.2, 2.4, 2.0, 1.6, 1.2, 0.8, 0.5, 0.4, 0.3, 0.2, 0.2]
NIGHTLY = [2.5, 2.5, 2.0, 1.5, 1.0, 0.5] + [0.3] * 12 + [0.5, 0.8, 1.2, 1.6, 2.0, 2.5]
EVEN = [1.0] * 24


class Kind:
    """Pods of one purpose: how many a weekday, when, how long (median hours), and what they ask."""

    def __init__(self, purpose, namespaces, per_day, hours, weekend, median, spread, asks):
        self.purpose = purpose
        self.namespaces = namespaces
        self.per_day = per_day
        self.hours = hours
        self.weekend = weekend
        self.median = median
        self.spread = spread
        self.asks = asks  # (weight, cpu, GiB, gpus, models)


KINDS = [
    Kind("notebook", ["vision", "language", "speech", "robotics"], 70, WORKING_HOURS, 0.1, 5, 0.6, [
        (5, 4, 24, "0.25", [L40S, T4]), (4, 8, 48, "0.5", [L40S, A100]), (1, 8, 64, "1", []),
        (2, 4, 16, "0.2", [])]),
    Kind("eval", ["vision", "language", "speech"], 110, EVEN, 0.7, 1.2, 0.8, [
        (4, 8, 64, "1", []), (2, 16, 64, "1", [T4, L40S]), (2, 4, 32, "0.5", []),
        (1, 24, 192, "2", [A100, H100])]),
    Kind("tune", ["language", "vision", "robotics"], 52, WORKING_HOURS, 0.4, 6, 0.8, [
        (4, 12, 96, "1", [A100, H100, L40S]), (3, 24, 192, "2", [A100, L40S]),
        (3, 48, 384, "4", [A100, H100]), (1, 48, 128, "4", [L40S])]),
    Kind("train", ["language", "vision"], 11, WORKING_HOURS, 0.5, 20, 0.7, [
        (4, 96, 768, "8", [A100]), (3, 128, 1024, "8", [H100]), (2, 64, 512, "4", []),
        (2, 96, 768, "8", [A100, H100])]),
    Kind("batch", ["serving"], 18, NIGHTLY, 1.0, 2.5, 0.5, [
        (3, 6, 24, "0.3", [T4]), (2, 12, 48, "1", [T4, L40S])]),
    Kind("prepare", ["data"], 24, NIGHTLY, 0.8, 1.5, 0.6, [
        (3, 16, 64, "0", []), (1, 32, 128, "0", [])]),
]

# Services: there from the start, most of them until the end.
SERVICES = [
    (14, 2, 8, "0.1", [T4]), (12, 4, 16, "0.25", [T4, L40S]), (8, 6, 24, "0.5", [L40S]),
    (5, 8, 64, "1", [L40S, A100]), (2, 16, 128, "2", [A100]),
]


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed).random

    def index(self, count):
        return int(self.random() * count)

    def weighted(self, asks):
        at = self.random() * sum(ask[0] for ask in asks)
        for ask in asks:
            at -= ask[0]
            if at < 0:
                return ask[1:]
        return asks[-1][1:]

    def log_normal(self, median, spread):
        radius = math.sqrt(-2 * math.log(1 - self.random()))
        return median * math.exp(spread * radius * math.cos(2 * math.pi * self.random()))


def node_rows():
    yield ["name", "cpu", "memory", "gpus", "gpu_model", "label:topology.kubernetes.io/zone"]
    for count, name, cpu, memory, gpus, model in NODES:
        for i in range(count):
            zone = "zone-a" if i < (count + 1) // 2 else "zone-b"
            yield [f"{name}-{i + 1:02}", cpu, memory, gpus, model, zone]


def service_pods(draw):
    for count, cpu, memory, gpus, models in SERVICES:
        for i in range(count):
            created = int(draw.random() * HOUR) if i % 3 else int(draw.random() * DAYS * 12 * HOUR)
            stays = draw.random() < 0.7
            deleted = "" if stays else created + int((1 + draw.random() * 5) * 24 * HOUR)
            yield "serving", "model", cpu, memory, gpus, models, created, deleted


def pods_of(kind, draw):
    weight = sum(kind.hours)
    for hour in range(DAYS * 24):
        is_weekend = hour // 24 % 7 >= 5
        expected = kind.per_day * kind.hours[hour % 24] / weight * (kind.weekend if is_weekend else 1)
        for _ in range(int(expected + draw.random())):
            namespace = kind.namespaces[draw.index(len(kind.namespaces))]
            cpu, memory, gpus, models = draw.weighted(kind.asks)
            created = hour * HOUR + int(draw.random() * HOUR)
            lived = max(60, int(draw.log_normal(kind.median, kind.spread) * HOUR))
            # The trace ends after its two weeks: what is still there then has no end.
            deleted = created + lived if created + lived < DAYS * 24 * HOUR else ""
            yield namespace, kind.purpose, cpu, memory, gpus, models, created, deleted


def pod_rows(draw):
    yield ["namespace", "name", "cpu", "memory", "gpus", "gpu_models", "created", "deleted"]
    pods = list(service_pods(draw))
    for kind in KINDS:
        pods.extend(pods_of(kind, draw))
    pods.sort(key=lambda pod: pod[6])
    numbers = {}
    for namespace, purpose, cpu, memory, gpus, models, created, deleted in pods:
        numbers[namespace, purpose] = number = numbers.get((namespace, purpose), 0) + 1
        yield [namespace, f"{purpose}-{number}", cpu, f"{memory}Gi", gpus, "|".join(models),
               created, deleted]


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    folder = pathlib.Path(__file__).resolve().parent
    for name, rows in (("nodes.csv", node_rows()), ("pods.csv", pod_rows(Draw(SEED)))):
        text = as_csv(rows)
        if not check:
            (folder / name).write_text(text)
        elif (folder / name).read_text() != text:
            sys.exit(f"{name} is not what generate.py makes; run it again")


if __name__ == "__main__":
    main()
