#!/usr/bin/env python3
"""Tables of what `compare --open-loop RATE --profile DIR` has left in DIR: where the processor time of the scheduler, the API server
and etcd goes, what each subject asks of the API server for a pod, and what a pod waits for.

    profile.py DIR

Needs go (for the profiles of Go programs) and perf (for gpu-scheduler's) on PATH. `make profile` takes and shows one.
"""
import collections
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import stacks
import stages

WHOLE_REQUESTS = 0.05  # a pod; what is rarer is not worth a line
SMALL_SHARE = 0.01


def main(directory):
    with open(directory / "audit.log") as log:
        requests = stages.requests_by_namespace(log)
    for folder in sorted(path.parent for path in directory.glob("*/run.json")):
        run = json.loads((folder / "run.json").read_text())
        print(f"## {run['subject']}: {run['pods']} pods at {run['podsPerSecond']:.0f}/s\n")
        show_stages(run, requests[run["namespace"]], (folder / "subject.log").read_text())
        show_requests(run, folder)
        if (folder / "subject.perf").exists():
            show_parts("The scheduler's CPU", stacks.by_part(stacks.of_perf(folder / "subject.perf"), stacks.GPU_SCHEDULER))
        show_parts("The API server's CPU", stacks.by_part(stacks.of_pprof(folder / "apiserver.pprof"), stacks.API_SERVER))
        show_parts("etcd's CPU", stacks.by_part(stacks.of_pprof(folder / "etcd.pprof"), stacks.ETCD))


def show_stages(run, requests, log):
    pods = stages.of_pods(run, requests, stages.in_scheduler(log))
    if not pods:
        return
    print("| a pod's time, ms | median | slowest hundredth, mean |\n| --- | --- | --- |")
    for stage, (median, slow) in stages.summary(pods).items():
        print(f"| {stage} | {1000 * median:.1f} | {1000 * slow:.1f} |")
    print()


def show_requests(run, folder):
    before, after = (counters((folder / f"{when}.metrics").read_text()) for when in ("before", "after"))
    print("| of the API server, for a pod | |\n| --- | --- |")
    for what, value in sorted(after.items()):
        grown = (value - before[what]) / run["pods"]
        if grown >= WHOLE_REQUESTS:
            print(f"| {what} | {grown:,.2f} |")
    print()


def counters(metrics):
    """{what: count} of the API server's requests, of the changes that its watches told of, and of those changes' bytes."""
    counts = collections.Counter()
    for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", metrics, re.MULTILINE):
        label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        resource = "/".join(filter(None, (label.get("resource"), label.get("subresource"))))
        if name == "apiserver_request_total" and label["verb"] not in ("WATCH", "LIST"):
            counts[f"{label['verb']} {resource}"] += float(value)
        elif name == "apiserver_watch_events_total":
            counts[f"changes of {resource} told to watches"] += float(value)
        elif name == "apiserver_watch_events_sizes_sum":
            counts[f"bytes of changes of {resource}"] += float(value)
    return counts


def show_parts(title, shares):
    print(f"| {title} | % |\n| --- | --- |")
    for part, share in shares:
        if share >= SMALL_SHARE:
            print(f"| {part} | {100 * share:.0f} |")
    print()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
