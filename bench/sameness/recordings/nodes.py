#!/usr/bin/env python3
"""Prints the nodes of the cluster that record.sh records, as YAML (which JSON is): whole, shared and partitioned GPUs in two zones."""

import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import objects  # noqa: E402

KINDS = ["h100", "h100", "a100", "l4", "l4", "shared", "mig", "mig", "mig", "cpu"]
DRAWN = random.Random(1)
DOCUMENTS = []
for number, kind in enumerate(KINDS):
    node = objects.node(DRAWN, f"{kind}-{number}", kind)
    del node["metadata"]["uid"]
    node["metadata"]["labels"]["kubernetes.io/os"] = "linux"
    node["status"]["allocatable"]["pods"] = "110"
    node["status"]["capacity"] = node["status"]["allocatable"]
    DOCUMENTS.append(json.dumps({"apiVersion": "v1", "kind": "Node"} | node))
print("\n---\n".join(DOCUMENTS))
