#!/usr/bin/env python3
"""What happens in the cluster that record.sh records: quotas that lend, waves of pods, nodes that are repartitioned, cordoned and tainted.

    life.py KUBECTL SECONDS
"""

import json
import pathlib
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import objects  # noqa: E402

KUBECTL, SECONDS = sys.argv[1], float(sys.argv[2])
DRAWN = random.Random(2)
NAMESPACES = {"red-1": "red", "red-2": "red", "green-1": "green", "free": "none"}
QUOTAS = {
    "red": {"namespaceSelector": {"matchLabels": {"team": "red"}}, "cohort": "research", "quotas": [
        {"gpuType": "H100", "guaranteed": 6}, {"gpuType": "*", "guaranteed": 4, "lendable": 2}]},
    "green": {"namespaces": ["green-1"], "cohort": "research", "order": "Strict", "quotas": [
        {"gpuType": "H100", "guaranteed": 4, "limit": 8}, {"gpuType": "*", "guaranteed": 3}]},
}


def kubectl(*arguments, objects=None):
    text = None if objects is None else json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    done = subprocess.run([KUBECTL, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"kubectl {' '.join(arguments)}: {done.stderr.strip()[:300]}", file=sys.stderr)
    return done.stdout


def pod(number):
    asks = objects.GPU_ASKS if DRAWN.random() < 0.6 else objects.MIG_ASKS
    made = objects.template(DRAWN, asks, ["gpu-scheduler"], 0)
    made["metadata"] |= {"name": f"pod-{number}", "namespace": DRAWN.choice(list(NAMESPACES))}
    for key in ("priority", "overhead"):  # what classes say, of which there are none
        made["spec"].pop(key, None)
    for container in made["spec"]["containers"] + made["spec"].get("initContainers", []):
        container["image"] = "none"
    made["spec"].setdefault("terminationGracePeriodSeconds", 0)
    if DRAWN.random() < 0.1:
        made["spec"]["schedulingGates"] = [{"name": "later"}]
    return {"apiVersion": "v1", "kind": "Pod"} | {key: made[key] for key in ("metadata", "spec")}


def names(kind):
    return [item["metadata"] for item in json.loads(kubectl("get", kind, "-A", "-o", "json"))["items"]]


def pods_go():
    there = [each for each in names("pods") if each["namespace"] in NAMESPACES]
    for namespace in NAMESPACES:
        gone = [each["name"] for each in there if each["namespace"] == namespace and DRAWN.random() < 0.35]
        if gone:
            kubectl("-n", namespace, "delete", "pod", "--wait=false", *gone)


def gates_open():
    for namespace in NAMESPACES:
        for each in json.loads(kubectl("-n", namespace, "get", "pods", "-o", "json"))["items"]:
            if each["spec"].get("schedulingGates") and DRAWN.random() < 0.5:
                kubectl("-n", namespace, "patch", "pod", each["metadata"]["name"], "--type=merge", "-p", '{"spec":{"schedulingGates":[]}}')


def node_changes():
    node = DRAWN.choice(names("nodes"))["name"]
    what = DRAWN.randrange(4)
    if what == 0:
        kubectl("cordon", node)
    elif what == 1:
        kubectl("uncordon", node)
    else:
        kubectl("taint", "node", node, f"{DRAWN.choice(objects.SOFT_TAINTS)}=yes:PreferNoSchedule", "--overwrite")


def mig_changes():
    node = DRAWN.choice([each["name"] for each in names("nodes") if each["name"].startswith("mig")])
    config = DRAWN.choice(list(objects.MIG))
    kubectl("label", "node", node, "--overwrite", f"nvidia.com/mig.config={config}", "nvidia.com/mig.config.state=pending")
    offers = {name: str(amount) for name, amount in objects.mig_offers(config, 2).items()}
    kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p",
            json.dumps({"status": {"allocatable": offers, "capacity": offers}}))
    kubectl("label", "node", node, "--overwrite", "nvidia.com/mig.config.state=success")


def quota_changes():
    spec = QUOTAS["red"]
    spec["quotas"][0]["guaranteed"] = DRAWN.choice([2, 4, 6, 8])
    kubectl("apply", "-f", "-", objects=[quota("red", spec)])


def quota(name, spec):
    return {"apiVersion": "gpu-scheduler.io/v1alpha1", "kind": "GpuQuota", "metadata": {"name": name}, "spec": spec}


def main():
    kubectl("apply", "-f", "-", objects=[
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}} for name, team in NAMESPACES.items()])
    kubectl("apply", "-f", "-", objects=[quota(name, spec) for name, spec in QUOTAS.items()])
    number, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        kubectl("create", "-f", "-", objects=[pod(number + i) for i in range(15)])
        number += 15
        for happens in (node_changes, gates_open, mig_changes, pods_go) + ((quota_changes,) if number % 45 == 0 else ()):
            happens()
    time.sleep(3)  # for the last binds


if __name__ == "__main__":
    main()
