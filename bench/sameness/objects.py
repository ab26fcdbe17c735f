"""Random Kubernetes objects, as JSON: nodes, pods, quotas, volumes.

Few values each, so that they meet: a pod that selects a zone should find nodes in it, and others that do too.
"""

ZONES = ["za", "zb", "zc"]
NAMESPACES = [f"ns{i}" for i in range(7)]
TEAMS = ["red", "green", "blue"]
SOFT_TAINTS = ["maintenance", "spot", "slow"]
APPS = ["web", "train", "db"]
CLASSES = ["fast-gpus", "other-gpus"]
DEPARTMENTS = ["department0", "department1", "department2"]
SELECTED_NODE = "volume.kubernetes.io/selected-node"
STORAGE_CLASSES = {"local": "kubernetes.io/no-provisioner", "made": "csi.example.com", "at-once": "csi.example.com"}

H100 = "NVIDIA-H100-80GB-HBM3"
A100 = "NVIDIA-A100-SXM4-80GB"
MIG = {  # per GPU of an H100 or A100 of 80 GB
    "all-1g.10gb": {"1g.10gb": 7}, "all-2g.20gb": {"2g.20gb": 3}, "all-3g.40gb": {"3g.40gb": 2}, "all-7g.80gb": {"7g.80gb": 1},
    "all-balanced": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
}


def gpu_labels(product, gpus, mib, capability, family):
    major, minor = capability.split(".")
    return {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": product, "nvidia.com/gpu.count": str(gpus),
            "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.memory": str(mib), "nvidia.com/gpu.family": family,
            "nvidia.com/gpu.compute.major": major, "nvidia.com/gpu.compute.minor": minor,
            "nvidia.com/cuda.driver-version.full": "570.124.06", "nvidia.com/cuda.runtime-version.full": "12.8"}


def mig_labels(product, gpus, config, state="success"):
    return gpu_labels(product, gpus, 81559, "9.0" if "H100" in product else "8.0", "hopper" if "H100" in product else "ampere") | {
        "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "mixed", "nvidia.com/mig.config": config,
        "nvidia.com/mig.config.state": state}


# What a node of a kind is labelled and offers, beside CPU and memory.
def node_of_cpu(_):
    return {}, {}


def node_of_h100(random):
    gpus = random.choice([4, 8])
    return gpu_labels(H100, gpus, 81559, "9.0", "hopper"), {"nvidia.com/gpu": gpus}


def node_of_a100(random):
    gpus = random.choice([2, 8])
    return gpu_labels(A100, gpus, 81920, "8.0", "ampere"), {"nvidia.com/gpu": gpus}


def node_of_l4(random):
    gpus = random.choice([1, 4])
    return gpu_labels("NVIDIA-L4", gpus, 23034, "8.9", "ada-lovelace"), {"nvidia.com/gpu": gpus}


def node_of_shared_l4(random):
    labels = gpu_labels("NVIDIA-L4-SHARED", 2, 23034, "8.9", "ada-lovelace")
    strategy = random.choice(["time-slicing", "mps"])
    return labels | {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": strategy}, {"nvidia.com/gpu": 8}


def node_of_renamed_t4(_):
    labels = gpu_labels("Tesla-T4", 1, 15360, "7.5", "turing")
    return labels | {"nvidia.com/gpu.replicas": "3", "nvidia.com/gpu.sharing-strategy": "time-slicing"}, {"nvidia.com/gpu.shared": 3}


def node_of_mig(random):
    product = random.choice([H100, A100])
    config = random.choice(list(MIG) + ["all-disabled"] * 2)
    if config == "all-disabled":
        return mig_labels(product, 2, config), {"nvidia.com/gpu": 2}
    return mig_labels(product, 2, config), mig_offers(config, 2)


def node_of_single_mig(_):
    labels = mig_labels(H100 + "-MIG-1g.10gb", 14, "all-1g.10gb") | {"nvidia.com/mig.strategy": "single", "nvidia.com/gpu.memory": "9728"}
    return labels, {"nvidia.com/gpu": 14}


def node_without_labels(_):
    return {}, {"nvidia.com/gpu": 8}


def node_that_contradicts_itself(random):
    labels = gpu_labels(H100, 8, 81559, "9.0", "hopper")
    labels |= random.choice([{"nvidia.com/gpu.memory": "much"}, {"nvidia.com/gpu.replicas": "-3"}, {"nvidia.com/mig.strategy": "double"},
                             {"nvidia.com/gpu.sharing-strategy": "barter"}])
    return labels, {"nvidia.com/gpu": 8}


def node_of_amd(_):
    return {}, {"amd.com/gpu": 4}


NODE_KINDS = {"cpu": node_of_cpu, "h100": node_of_h100, "a100": node_of_a100, "l4": node_of_l4, "shared": node_of_shared_l4,
              "renamed": node_of_renamed_t4, "mig": node_of_mig, "single": node_of_single_mig, "unlabelled": node_without_labels,
              "odd": node_that_contradicts_itself, "amd": node_of_amd}


def mig_offers(config, gpus):
    offers = {f"nvidia.com/mig-{profile}": 0 for profiles in MIG.values() for profile in profiles}
    for profile, count in MIG[config].items():
        offers[f"nvidia.com/mig-{profile}"] = count * gpus
    return offers | {"nvidia.com/gpu": 0}


def node(random, name, kind):
    labels, offers = NODE_KINDS[kind](random)
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": random.choice(ZONES),
              "pool": random.choice(["owned", "common", "common"]), "rank": str(random.randrange(5))} | labels
    amounts = {"cpu": random.choice(["16", "32", "96"]), "memory": random.choice(["64Gi", "256Gi", "1Ti"]),
               "pods": random.choice(["5", "30", "110"])} | {name: str(amount) for name, amount in offers.items()}
    made = {"metadata": {"name": name, "uid": f"{name}-{random.randrange(1000)}", "labels": labels},
            "spec": {}, "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}}
    taints = []
    if offers and random.random() < 0.5:
        taints.append({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"})
    if random.random() < 0.4:
        taints.append({"key": random.choice(SOFT_TAINTS), "effect": "PreferNoSchedule"})
    set_taints(made, taints)
    return made


def set_taints(node, taints):
    node["spec"].pop("taints", None)
    if taints:
        node["spec"]["taints"] = taints


def change_node(random, node):
    """One thing about it is another from now on."""
    labels, spec, status = node["metadata"]["labels"], node["spec"], node["status"]
    what = random.randrange(9)
    if what == 0:
        labels["topology.kubernetes.io/zone"] = random.choice(ZONES)
    elif what == 1:
        labels["pool"] = random.choice(["owned", "common"])
    elif what == 2:
        if not spec.pop("unschedulable", False) and random.random() < 0.5:
            spec["unschedulable"] = True
    elif what == 3:
        set_taints(node, [t for t in spec.get("taints", []) if t["effect"] != "PreferNoSchedule"] +
                   ([{"key": random.choice(SOFT_TAINTS), "effect": "PreferNoSchedule"}] if random.random() < 0.6 else []))
    elif what == 4:
        set_taints(node, [t for t in spec.get("taints", []) if t["effect"] != "NoExecute"] +
                   ([{"key": "sick", "effect": "NoExecute"}] if random.random() < 0.3 else []))
    elif what == 5:
        sick = random.random() < 0.4
        status["conditions"] = [{"type": "Ready", "status": "True"}, {
            "type": random.choice(["GpuUnhealthy", "AcceleratedHardwareReady", "KernelDeadlock"]),
            "status": "True" if sick else "False", "reason": "Xid79"}]
    elif what == 6:
        status["allocatable"]["cpu"] = random.choice(["16", "32", "96"])
    elif what == 7:
        labels["rank"] = str(random.randrange(5))
    elif "nvidia.com/gpu" in status["allocatable"] and "nvidia.com/mig.config" not in labels:
        status["allocatable"]["nvidia.com/gpu"] = str(random.choice([0, 2, 7, 8]))


def change_mig(random, node):
    """mig-manager begins, ends or gives up repartitioning the node's GPUs."""
    labels = node["metadata"]["labels"]
    if labels["nvidia.com/mig.config.state"] == "pending":
        if random.random() < 0.2:
            labels["nvidia.com/mig.config.state"] = "failed"
            return
        labels["nvidia.com/mig.config.state"] = "success"
        config = labels["nvidia.com/mig.config"]
        offers = {"nvidia.com/gpu": 2} if config == "all-disabled" else mig_offers(config, 2)
        kept = {name: amount for name, amount in node["status"]["allocatable"].items() if not name.startswith("nvidia.com/")}
        node["status"]["allocatable"] = kept | {name: str(amount) for name, amount in offers.items()}
    else:
        labels["nvidia.com/mig.config"] = random.choice(list(MIG) + ["all-disabled"])
        labels["nvidia.com/mig.config.state"] = "pending"


def of_any(random, *weighted):
    """One of (weight, value), drawn."""
    return random.choices([value for _, value in weighted], [weight for weight, _ in weighted])[0]


def requirement(random):
    return random.choice([
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": random.sample(ZONES, 2)},
        {"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": [random.choice(ZONES)]},
        {"key": "nvidia.com/gpu.product", "operator": "In", "values": [H100, A100]},
        {"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["30000"]},
        {"key": "rank", "operator": "Lt", "values": ["3"]},
        {"key": "pool", "operator": "Exists"},
        {"key": "nvidia.com/gpu.present", "operator": "DoesNotExist"}])


def preference(random):
    return {"weight": random.choice([1, 10, 50, 100]), "preference": {"matchExpressions": [requirement(random)]}}


def anti_affinity(random):
    term = {"labelSelector": {"matchLabels": {"app": random.choice(APPS)}},
            "topologyKey": random.choice(["kubernetes.io/hostname", "topology.kubernetes.io/zone"])}
    if random.random() < 0.3:
        term["namespaceSelector"] = {"matchLabels": {"team": random.choice(TEAMS)}}
    return term


# What makes a pod wait for something else than nodes and quota. Most of it nothing ever helps.
def add_constraint(random, pod):
    spec, what = pod["spec"], random.randrange(10)
    if what in (0, 8, 9):  # other schedulers' pods have it and keep ours away
        spec["affinity"] = spec.get("affinity", {}) | {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti_affinity(random)]}}
    elif what == 1:
        spec["affinity"] = spec.get("affinity", {}) | {
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti_affinity(random)]}}
    elif what == 2:
        spec["topologySpreadConstraints"] = [{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "web"}},
            "whenUnsatisfiable": random.choice(["DoNotSchedule", "ScheduleAnyway"])}]
    elif what in (3, 4):
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"claim{random.randrange(4)}"}}]
    elif what == 5:
        spec["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    elif what == 6:
        spec["containers"][0]["resources"]["requests"]["deviceclass.resource.kubernetes.io/fast-gpus"] = "1"
    else:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "claimed"}]


def add_volumes(random, pod):
    """Claims of its namespace, and disks that only so many pods or nodes can have."""
    spec = pod["spec"]
    spec["volumes"] = [{"name": f"data{which}", "persistentVolumeClaim": {"claimName": f"wanted{which}"}}
                       for which in random.sample(range(8), random.choice([0, 1, 1, 2]))]
    if random.random() < 0.2:
        spec["volumes"].append({"name": "disk", "gcePersistentDisk": {"pdName": f"disk{random.randrange(3)}"}})


GPU_ASKS = [(18, {"nvidia.com/gpu": 1}), (7, {"nvidia.com/gpu": 2}), (4, {"nvidia.com/gpu": 4}), (3, {"nvidia.com/gpu": 8}),
            (0.5, {"nvidia.com/gpu": 16}), (5, {}), (1, {"nvidia.com/gpu.shared": 1}),
            (0.5, {"amd.com/gpu": 1})]
SMALL_ASKS = [(18, {"nvidia.com/gpu": 1}), (8, {"nvidia.com/gpu": 2}), (4, {"nvidia.com/gpu": 4}), (4, {})]
MIG_ASKS = [(4, {"nvidia.com/mig-1g.10gb": 1}), (2, {"nvidia.com/mig-2g.20gb": 1}), (4, {"nvidia.com/mig-3g.40gb": 1}),
            (2, {"nvidia.com/mig-7g.80gb": 1}), (1, {"nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-3g.40gb": 1})]
ANNOTATIONS = [{"gpu-scheduler.io/gpu-type": "H100, A100"}, {"gpu-scheduler.io/gpu-type": "A100-80GB"},
               {"gpu-scheduler.io/gpu-type": "L4,H100"}, {"gpu-scheduler.io/min-gpu-memory": "40Gi"},
               {"gpu-scheduler.io/min-compute-capability": "8.9"}, {"gpu-scheduler.io/sharing": "required"},
               {"gpu-scheduler.io/sharing": "never"}, {"gpu-scheduler.io/mig-profile": "1g.10gb"},
               {"gpu-scheduler.io/sharing": "perhaps"}]


def template(random, asks, schedulers, constrained):
    """A kind of pod: what its pods have in common, which is all but names and times."""
    amounts = {"cpu": random.choice(["500m", "1", "4", "12"]), "memory": random.choice(["1Gi", "8Gi", "60Gi"])}
    devices = {name: str(amount) for name, amount in of_any(random, *asks).items()}
    spec = {"schedulerName": random.choice(schedulers), "priority": random.choice([0, 0, 0, 0, 10, 1000]),
            "containers": [{"name": "main", "resources": {"requests": amounts | devices, "limits": devices}}]}
    pod = {"metadata": {"namespace": random.choice(NAMESPACES), "labels": {"app": random.choice(APPS)}, "annotations": {}},
           "spec": spec, "status": {"phase": "Pending"}}
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists"}] if random.random() < 0.85 else []
    if random.random() < 0.2:
        tolerations.append({"key": random.choice(SOFT_TAINTS), "operator": "Exists", "effect": "PreferNoSchedule"})
    if random.random() < 0.05:
        tolerations = [{"operator": "Exists"}]
    if tolerations:
        spec["tolerations"] = tolerations
    affinity = {}
    if random.random() < 0.12:
        spec["nodeSelector"] = random.choice([{"topology.kubernetes.io/zone": random.choice(ZONES)}, {"nvidia.com/gpu.product": H100},
                                              {"nvidia.com/gpu.family": "ampere"}, {"pool": "common"}])
    if random.random() < 0.15:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [{"matchExpressions": [requirement(random)]} for _ in range(random.choice([1, 1, 2]))]}
    if random.random() < 0.35:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [preference(random) for _ in range(random.choice([1, 2, 3]))]
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    if devices and random.random() < 0.25:
        pod["metadata"]["annotations"] |= random.choice(ANNOTATIONS)
    if random.random() < 0.05:
        spec["containers"][0]["ports"] = [{"hostPort": random.choice([80, 443]), "containerPort": 80}]
    if random.random() < 0.05:
        spec["initContainers"] = [{"name": "first", "resources": {"requests": {"cpu": "14", "memory": "2Gi"}}}]
    if random.random() < 0.03:
        spec["overhead"] = {"cpu": "250m"}
    if random.random() < constrained:
        add_constraint(random, pod)
    return pod


def quota(random, metadata, scale):
    """One of few GPUs, times `scale`."""
    spec = {"namespaces": random.sample(NAMESPACES, random.choice([0, 1, 1, 2]))}
    if not spec["namespaces"] or random.random() < 0.2:
        spec["namespaceSelector"] = {"matchLabels": {"team": random.choice(TEAMS)}}
    in_cohort = random.random() < 0.75
    if in_cohort:
        spec["cohort"] = random.choice(["research", "products"])
    if random.random() < 0.2:
        spec["order"] = "Strict"
    if random.random() < 0.15:
        spec["maxGpusPerPod"] = random.choice([1, 4])
    spec["quotas"] = []
    for gpu_type in [H100, "H100", "A100", "L4", "*"]:
        if random.random() < (0.25 if gpu_type == "*" else 0.6):
            continue
        guaranteed = random.choice([0, 1, 2, 4, 8, 12]) * scale
        line = {"gpuType": gpu_type, "guaranteed": random.choice([guaranteed, f"{guaranteed * 1000 + 500}m"])}
        if in_cohort and random.random() < 0.3:
            line["limit"] = guaranteed + random.choice([1, 2, 8]) * scale
        if in_cohort and random.random() < 0.3:
            line["lendable"] = random.randrange(guaranteed + 1)
        spec["quotas"].append(line)
    if random.random() < 0.04:
        spec["quotas"].append({"gpuType": "", "guaranteed": -1})  # from before the API server refused it
    return {"metadata": metadata, "spec": spec}


def department(random, metadata, scale):
    """A quota of quotas: it has no namespaces of its own."""
    made = quota(random, metadata, 3 * scale)
    made["spec"] |= {"namespaces": []}
    made["spec"].pop("namespaceSelector", None)
    return made


def make_part(random, quota):
    """Of a department, mostly: it lends and borrows there."""
    if random.random() < 0.2:
        return
    quota["spec"].pop("cohort", None)
    quota["spec"]["parent"] = random.choice(DEPARTMENTS)
    if random.random() < 0.4:
        quota["spec"]["weight"] = random.choice([0, 1, 3, 10])


def make_lender(random, quota):
    """One of few that share all namespaces, lend what is idle and borrow from each other."""
    spec, number = quota["spec"], int(quota["metadata"]["name"].removeprefix("quota"))
    spec |= {"namespaces": NAMESPACES[number::5], "cohort": "research"}
    for key in ("namespaceSelector", "maxGpusPerPod", "order"):
        spec.pop(key, None)
    spec["quotas"] = [{"gpuType": "*", "guaranteed": random.choice([0, 0, 4, 8, 16])}]


def disruption_budget(random, namespace, name, number, pods):
    """What may go of the pods that it covers. `pods` are names: of some of them the API server has evicted already."""
    spec = {"selector": of_any(random, (6, {"matchLabels": {"app": random.choice(APPS)}}), (1, {}), (1, None))}
    status = {"disruptionsAllowed": random.choice([0, 0, 1, 2])}
    if pods and random.random() < 0.2:
        status["disruptedPods"] = {random.choice(pods): "2026-01-01T00:00:00Z"}
    return {"metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}-{number}", "resourceVersion": str(number)},
            "spec": spec if spec["selector"] is not None else {}, "status": status}


def wanted_claim(random, namespace, name, number):
    """One whose volume is chosen or made for its pod, or at once."""
    return {"metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}-{number}", "resourceVersion": str(number),
                         "annotations": {}},
            "spec": {"accessModes": [random.choice(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"])],
                     "storageClassName": random.choice(["local", "local", "made", "made", "at-once"]),
                     "resources": {"requests": {"storage": random.choice(["1Gi", "10Gi", "50Gi"])}}},
            "status": {"phase": "Pending"}}


def local_volume(random, name, number):
    """A disk of a zone, which a claim may take."""
    return {"metadata": {"name": name, "uid": f"{name}-{number}", "resourceVersion": str(number), "labels": {}},
            "spec": {"accessModes": ["ReadWriteOnce", "ReadWriteOncePod"], "storageClassName": "local", "capacity": {"storage": random.choice(["10Gi", "100Gi"])},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                         {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [random.choice(ZONES)]}]}]}}},
            "status": {"phase": "Available"}}


def made_volume(name, number, claim):
    """What a provisioner makes for a claim."""
    metadata = claim["metadata"]
    return {"metadata": {"name": name, "uid": name, "resourceVersion": str(number), "labels": {}},
            "spec": {"accessModes": claim["spec"]["accessModes"], "storageClassName": claim["spec"]["storageClassName"],
                     "capacity": {"storage": "100Gi"}, "csi": {"driver": "csi.example.com", "volumeHandle": name},
                     "claimRef": {"namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}},
            "status": {"phase": "Bound"}}


def storage_class(random, name):
    made = {"metadata": {"name": name, "uid": name}, "provisioner": STORAGE_CLASSES[name],
            "volumeBindingMode": "Immediate" if name == "at-once" else "WaitForFirstConsumer"}
    if name == "made" and random.random() < 0.5:
        made["allowedTopologies"] = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": random.sample(ZONES, 2)}]}]
    return made


def csi_node(random, name):
    return {"metadata": {"name": name, "uid": name}, "spec": {"drivers": [
        {"name": "csi.example.com", "nodeID": name, "topologyKeys": [], "allocatable": {"count": random.choice([1, 1, 2])}}]}}


def claim(random, namespace, name):
    made = {"metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}", "annotations": {}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": random.choice(["", "local"])}, "status": {"phase": "Pending"}}
    what = random.randrange(6)
    if what > 1:
        made["spec"]["volumeName"] = f"volume{random.randrange(4)}"
        made["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
        made["status"]["phase"] = "Lost" if what == 5 else "Bound"
    return made


def volume(random, name):
    made = {"metadata": {"name": name, "uid": name, "labels": {}}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    what = random.randrange(4)
    if what == 0:
        made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement(random)]}]}}
    if what == 1:
        made["metadata"]["labels"]["topology.kubernetes.io/zone"] = random.choice(ZONES)
    return made
