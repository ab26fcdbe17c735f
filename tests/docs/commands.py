#!/usr/bin/env python3
"""Types the commands of the pages for bench and gpu-scheduler.

  commands.py BENCH GPU_SCHEDULER

Small traces and one seed stand in for what a page leaves open ("…", NODES, DIR). gpu-scheduler only checks what it is given. Commands with a recording or with
Kubernetes objects are for a cluster: tests/cluster/e2e/commands_test.go.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
OURS = re.compile(r"(?:bench|gpu-scheduler|bench/replay/cells\.py|cd bench/replay/sample) ")
OF_CLUSTERS = re.compile(r"bench replay (?:--recording|--nodes cluster\.json) ")
TRACES = ROOT / "manifests/examples/study/traces"


def commands(text):
    """The commands in the blocks of a page that name no language."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if OURS.match(line) and not OF_CLUSTERS.match(line):
                yield line


def with_stand_ins(command, folder):
    """The command as it can be typed here. What is written goes into the folder."""
    for what, with_what in [
        (r"\$OPENB/openb_node_\w+\.csv|(?<=--nodes )(?:NODES|…)", TRACES / "nodes.csv"),
        (r"\$OPENB/openb_pod_list_default\.csv|(?<=--pods )(?:PODS|…)", TRACES / "training.csv"),
        (r"\$OPENB/openb_pod_\w+\.csv(?: …)?", TRACES / "serving.csv"),
        (r"(?<=--policy )…", "default"),
        (r"(?<=bench replay )…", f"--nodes {TRACES}/nodes.csv --pods {TRACES}/training.csv --policy default"),
        (r"(?<=--seed )(\d+)\.\.\d+", r"\1"),
        (r"\b(DIR|REPORT)\b", rf"{folder}/\1"),
        (r"/tmp/", f"{folder}/"),
        (r"(?<=--kubeconfig )FILE", f"{folder}/kubeconfig --check-config"),
    ]:
        command = re.sub(what, str(with_what), command)
    return command


def shares(command):
    """All shares, where the command makes one: what follows merges them."""
    share = re.search(r"--share 0/(\d+)", command)
    count = int(share.group(1)) if share else 1
    return [command.replace("--share 0/", f"--share {i}/") for i in range(count)]


def forget_results(command):
    """What a command before wrote, where this one writes."""
    for out in re.findall(r"--out (\S+)", command):
        shutil.rmtree(out, ignore_errors=True)


def failures(page, text, path):
    """What goes wrong with the commands of a page, one after the other in one folder; and how many there are."""
    found, typed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for command in commands(text):
            typed += 1
            forget_results(with_stand_ins(command, folder))
            for each in shares(with_stand_ins(command, folder)):
                done = subprocess.run(["bash", "-euc", each], cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True)
                if done.returncode:
                    found.append(f"{page}: {command}\n  as {each}\n  ended with {done.returncode}: {done.stderr[-2000:]}")
                    break
    return found, typed


def main():
    path = os.pathsep.join([os.path.dirname(os.path.abspath(program)) for program in sys.argv[1:]] + [os.environ["PATH"]])
    wrong, typed = [], 0
    for page in sorted(ROOT.glob("**/*.md")):
        if page.relative_to(ROOT).parts[0] == "build":
            continue
        found, count = failures(page.relative_to(ROOT), page.read_text(encoding="utf-8"), path)
        wrong += found
        typed += count
    made_up = "```\nbench replay --no-such-option\n```\n"
    if not failures("made up", made_up, path)[0] or typed < 12:
        sys.exit(f"{typed} commands were typed: is a command that fails, or any command, still found?")
    sys.exit("\n".join(wrong) or print(f"{typed} commands do what the pages say"))


if __name__ == "__main__":
    main()
