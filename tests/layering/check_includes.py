#!/usr/bin/env python3
"""Checks who includes whom.

The parts know each other in one direction only; static libraries do not enforce that, so this does.
A rule names a unit (a folder without the units inside of it, or a header and its source) and the units that it
may include; "FOLDER/*" stands for all that is inside of a folder. A file that breaks its unit's rule is printed
as FILE:LINE. Within ACYCLIC the rules themselves have no circle, so that no includes have. Inside of every folder
of the product, what stands side by side (a folder with all that is in it, a header, a source) includes each other
without a circle. With each run, made-up files and rules show that the check can fail.
"""

import pathlib
import re
import sys

PROJECT = ("k8s-client/", "scheduler/", "plugins/", "bench/", "tests/")

# Small headers of k8s-client that everybody may read.
BASE = ["k8s-client/error.", "k8s-client/shown.", "k8s-client/ascii.", "k8s-client/parse_number.",
        "k8s-client/json_text.", "k8s-client/splitmix64.", "k8s-client/boot_clock.", "k8s-client/back_off."]
API = ["k8s-client/api/*", "k8s-client/yaml/"] + BASE
# The parts of the scheduler that decide: each may include those before it, and none after it.
PARTS = ["base", "gpu", "framework", "cluster", "quota", "queue", "engine"]


def up_to(part):
    return [f"scheduler/{p}/*" for p in PARTS[:PARTS.index(part) + 1]] + API


FRAMEWORK = up_to("framework")
CORE = up_to("engine")
HTTP = BASE + ["k8s-client/http/"]
POOLED = HTTP + ["k8s-client/http/base/", "k8s-client/http/pooled/"]
# Longest matching prefix wins: unit → what it may include besides itself.
RULES = {
    "k8s-client/": [],
    **{unit: [] for unit in BASE},
    "k8s-client/back_off.": ["k8s-client/splitmix64."],
    "k8s-client/yaml/": BASE,
    "k8s-client/api/": BASE,
    "k8s-client/http/": BASE,
    "k8s-client/http/base/": HTTP,
    "k8s-client/http/pooled/": HTTP + ["k8s-client/http/base/"],
    "k8s-client/http/asio/": POOLED,
    "k8s-client/http/cpprest/": POOLED,
    "k8s-client/request_target.": [],
    "k8s-client/retry.": BASE,
    "k8s-client/status_error.": HTTP + ["k8s-client/api/"],
    "k8s-client/access_review.": BASE,
    "k8s-client/calls.": ["k8s-client/api/"],
    "k8s-client/call_bodies.": BASE + ["k8s-client/api/", "k8s-client/calls."],
    "k8s-client/client.": HTTP + ["k8s-client/access_review.", "k8s-client/api/", "k8s-client/calls.", "k8s-client/call_bodies.",
                                  "k8s-client/request_target.", "k8s-client/retry.", "k8s-client/status_error."],
    "k8s-client/watch/": HTTP + ["k8s-client/api/", "k8s-client/client.", "k8s-client/request_target.",
                                 "k8s-client/status_error."],
    "k8s-client/auth/": HTTP + ["k8s-client/api/", "k8s-client/http/base/", "k8s-client/yaml/"],
    "k8s-client/event_series.": ["k8s-client/api/"],
    "k8s-client/event_budget.": [],
    "k8s-client/call_queue.": [],
    "k8s-client/event_recorder.": HTTP + ["k8s-client/api/", "k8s-client/call_queue.", "k8s-client/client.",
                                          "k8s-client/event_budget.", "k8s-client/event_series."],
    "k8s-client/leader_election/": HTTP + ["k8s-client/api/", "k8s-client/client."],
    **{f"scheduler/{part}/": up_to(part) for part in PARTS},
    "scheduler/config/": CORE,
    "scheduler/live/": CORE + ["scheduler/answers/", "scheduler/config/", "scheduler/server/", "k8s-client/*"],
    "scheduler/server/": ["scheduler/base/", "scheduler/engine/*", "k8s-client/*"],
    "scheduler/answers/": CORE,
    "scheduler/kubectl-gpu/": ["scheduler/*", "k8s-client/*", "plugins/registry.h"],
    # The composition root knows everything but benches and tests.
    "scheduler/main.cc": ["scheduler/*", "k8s-client/*", "plugins/registry.h"],
    "plugins/": FRAMEWORK,
    "bench/": ["scheduler/*", "k8s-client/*", "plugins/registry.h", "bench/devices/", "bench/policies/*"],
    "bench/devices/": FRAMEWORK,
    "bench/policies/": FRAMEWORK + ["bench/devices/", "plugins/registry.h", "plugins/support/*"],
    "tests/": [folder + "*" for folder in PROJECT],
}
# Between the units inside of these no circle is allowed.
ACYCLIC = ["k8s-client/"]
PRODUCT = ("k8s-client/", "scheduler/", "plugins/", "bench/")

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def unit_of(path, rules):
    prefixes = [p for p in rules if path == p or (p[-1] in "/." and path.startswith(p))]
    return max(prefixes, key=len) if prefixes else None


def is_allowed(entry, target, rules):
    if entry.endswith("*"):
        return target.startswith(entry[:-1])
    return target == entry or unit_of(target, rules) == entry


def violations(path, text):
    unit = unit_of(path, RULES)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match or unit is None:
            continue
        target = match.group(1)
        if not target.startswith(PROJECT):
            yield f'{path}:{number}: include "{target}" from the root of the project'
        elif unit_of(target, RULES) != unit and not any(is_allowed(a, target, RULES) for a in RULES[unit]):
            yield f"{path}:{number}: may not include {target}"


def circle(rules, folder):
    """The units of a circle in the rules of `folder`, or nothing."""
    units = {unit for unit in rules if unit.startswith(folder) and unit != folder}
    return in_circles({unit: {other for other in units - {unit} if any(is_allowed(a, other, rules) for a in rules[unit])}
                       for unit in units})


def in_circles(after):
    """What is in a circle, or between two, in a graph: a name → the names that it points to."""
    left = {name: set(others) & after.keys() for name, others in after.items()}
    for turned in (False, True):
        while free := [name for name, others in left.items() if not others & left.keys()]:
            for name in free:
                del left[name]
        if not turned:
            left = {name: {other for other in left if name in left[other]} for name in left}
    return sorted(left)


def side_by_side(includes):
    """For each folder what stands in it, and what of that each includes. `includes`: (file, included file)."""
    folders = {}
    for path, target in includes:
        for depth in range(path.count("/")):
            inside = "/".join(path.split("/")[:depth + 1]) + "/"
            if not target.startswith(inside):
                break
            a, b = (inner[len(inside):].split("/")[0] for inner in (path, target))
            if a != b:
                folders.setdefault(inside, {}).setdefault(a, set()).add(b)
                folders[inside].setdefault(b, set())
    return folders


def self_test():
    cases = [
        ("k8s-client/client.cc", '#include "scheduler/engine/engine.h"', 1),
        ("k8s-client/client.cc", '#include "k8s-client/event_recorder.h"', 1),
        ("k8s-client/unheard_of.cc", '#include "k8s-client/client.h"', 1),
        ("k8s-client/http/pooled/a.cc", '#include "k8s-client/http/asio/b.h"', 1),
        ("k8s-client/http/asio/a.cc", '#include "k8s-client/http/pooled/b.h"', 0),
        ("k8s-client/http/transport.cc", '#include "k8s-client/http/base/b.h"', 1),
        ("plugins/a/a.cc", '#include "scheduler/engine/engine.h"', 1),
        ("plugins/a/a.cc", '#include "k8s-client/http/transport.h"', 1),
        ("plugins/a/a.cc", '#include "scheduler/framework/plugin.h"', 0),
        ("scheduler/engine/engine.cc", '#include "bench/x.h"', 1),
        ("scheduler/engine/engine.cc", '#include "engine.h"', 1),
        ("scheduler/gpu/a.cc", '#include "scheduler/framework/plugin.h"', 1),
        ("scheduler/cluster/a.cc", '#include "scheduler/quota/ledger.h"', 1),
        ("scheduler/quota/a.cc", '#include "scheduler/cluster/nodes.h"', 0),
        ("scheduler/quota/a.cc", '#include "scheduler/queue/queues.h"', 1),
        ("scheduler/queue/a.cc", '#include "scheduler/engine/engine.h"', 1),
        ("scheduler/main.cc", '#include "plugins/registry.h"', 0),
        ("scheduler/live/a.cc", '#include "plugins/registry.h"', 1),
        ("scheduler/main.cc", '#include "bench/policies/registry.h"', 1),
        ("plugins/registry.cc", '#include "bench/policies/registry.h"', 1),
        ("bench/policies/a/a.cc", '#include "plugins/support/b.h"', 0),
        ("bench/policies/a/a.cc", '#include "plugins/b/b.h"', 1),
        ("bench/policies/a/a.cc", '#include "scheduler/engine/engine.h"', 1),
    ]
    for path, text, want in cases:
        got = len(list(violations(path, text)))
        if got != want:
            sys.exit(f"self-test: {path} with {text}: {got} complaints, want {want}")
    made_up = {"a/b/": ["a/c/"], "a/c/": ["a/d."], "a/d.": ["a/b/"], "a/e/": ["a/*"]}
    for rules, want in [(made_up, ["a/b/", "a/c/", "a/d."]), ({**made_up, "a/d.": []}, [])]:
        if (got := circle(rules, "a/")) != want:
            sys.exit(f"self-test: the circle is {got}, want {want}")
    made_up = [("a/x/1.h", "a/y.h"), ("a/y.h", "a/z.h"), ("a/z.h", "a/x/2.h"), ("a/z.h", "a/w.h"), ("a/v.h", "a/y.h"),
               ("a/x/1.h", "a/x/2.h"), ("a/w.cc", "a/v.h"), ("a/w.cc", "a/w.h")]
    for includes, want in [(made_up, {"a/": ["x", "y.h", "z.h"]}), (made_up[1:], {})]:
        got = {folder: units for folder, after in side_by_side(includes).items() if (units := in_circles(after))}
        if got != want:
            sys.exit(f"self-test: the circles are {got}, want {want}")


def main():
    self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    files = [f for folder in PROJECT for ext in ("*.cc", "*.h")
             for f in sorted((root / folder).rglob(ext))]
    if not files:
        sys.exit("no sources found")
    for folder in ACYCLIC:
        if units := circle(RULES, folder):
            sys.exit(f"the rules of {folder} have a circle among {', '.join(units)}")
    texts = {f.relative_to(root).as_posix(): f.read_text(encoding="utf-8") for f in files}
    found = [v for path, text in texts.items() for v in violations(path, text)]
    includes = [(path, match.group(1)) for path, text in texts.items() if path.startswith(PRODUCT)
                for match in map(INCLUDE.match, text.splitlines()) if match]
    found += [f"{folder}: a circle of includes among {', '.join(units)}"
              for folder, after in sorted(side_by_side(includes).items()) if (units := in_circles(after))]
    print("\n".join(found) or f"{len(files)} files, no include against the rules")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
