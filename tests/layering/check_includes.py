#!/usr/bin/env python3
"""Checks who includes whom.

The parts know each other in one direction only; static libraries do not enforce that, so this does.
A rule names a folder and the folders of this project that it may include. A file that breaks its
folder's rule is printed as FILE:LINE. With --self-test, shows on made-up files that the check can fail.
"""

import pathlib
import re
import sys

PROJECT = ("k8s-client/", "scheduler/", "plugins/", "bench/", "tests/")

# Longest matching prefix wins: folder or file → what it may include.
API = ["k8s-client/api/", "k8s-client/yaml/", "k8s-client/error.h", "k8s-client/splitmix64.h"]
# The parts of the scheduler that decide: each may include those before it, and none after it.
PARTS = ["base", "gpu", "framework", "cluster", "quota", "queue", "engine"]


def up_to(part):
    return [f"scheduler/{p}/" for p in PARTS[:PARTS.index(part) + 1]] + API


FRAMEWORK = up_to("framework")
CORE = up_to("engine")
RULES = {
    "k8s-client/": ["k8s-client/"],
    "k8s-client/api/": ["k8s-client/api/", "k8s-client/error.h"],
    "k8s-client/yaml/": ["k8s-client/yaml/", "k8s-client/error.h"],
    **{f"scheduler/{part}/": up_to(part) for part in PARTS},
    "scheduler/config/": CORE + ["scheduler/config/"],
    "scheduler/live/": CORE + ["scheduler/config/", "scheduler/live/", "scheduler/server/",
                               "k8s-client/"],
    "scheduler/server/": ["scheduler/server/", "scheduler/base/", "scheduler/engine/", "k8s-client/"],
    # The composition root knows everything but benches and tests.
    "scheduler/main.cc": ["scheduler/", "k8s-client/", "plugins/registry.h"],
    "plugins/": FRAMEWORK + ["plugins/"],
    "bench/": ["bench/", "scheduler/", "k8s-client/", "plugins/registry.h"],
    "tests/": list(PROJECT),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def rule_for(path):
    prefixes = [p for p in RULES if path == p or (p.endswith("/") and path.startswith(p))]
    return RULES[max(prefixes, key=len)] if prefixes else None


def violations(path, text):
    allowed = rule_for(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match or allowed is None:
            continue
        target = match.group(1)
        if not target.startswith(PROJECT):
            yield f'{path}:{number}: include "{target}" from the root of the project'
        elif not any(target == a or (a.endswith("/") and target.startswith(a)) for a in allowed):
            yield f"{path}:{number}: may not include {target}"


def self_test():
    cases = [
        ("k8s-client/client.cc", '#include "scheduler/engine/engine.h"', 1),
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
    ]
    for path, text, want in cases:
        got = len(list(violations(path, text)))
        if got != want:
            sys.exit(f"self-test: {path} with {text}: {got} complaints, want {want}")


def main():
    self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    files = [f for folder in PROJECT for ext in ("*.cc", "*.h")
             for f in sorted((root / folder).rglob(ext))]
    if not files:
        sys.exit("no sources found")
    found = [v for f in files
             for v in violations(f.relative_to(root).as_posix(), f.read_text(encoding="utf-8"))]
    print("\n".join(found) or f"{len(files)} files, no include against the rules")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
