"""A made-up cluster: random events, chosen in part by what the engine decided.

A world is drawn from its seed. What it does is what an API server, kubelets, other schedulers and people do: pods come and go, binds
fail or go through and are seen late or twice, nodes are relabelled, cordoned and repartitioned, quotas lend and change, time passes. Its
themes put some of it in the foreground, since what comes together seldom is tried seldom.
"""

import copy
import datetime
import random as randomness

import objects
from themes import FIRST_PODS, NODES, OFTEN, OURS, PODS, THEMES, configuration

SECOND = 1_000_000
START = int(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).timestamp()) * SECOND
THEIRS = "default-scheduler"


class World:
    """Tells an engine what happens, and heeds what it decides. `engine_of(config)` makes the engine."""

    def __init__(self, seed, theme, engine_of):
        self.random = randomness.Random(f"{theme}/{seed}")
        self.theme = THEMES[theme]
        self.engine = engine_of(configuration(self.random, theme))
        self.nodes_at_most = self.theme.get("nodes", NODES)
        self.now = START
        self.wakeup = None
        self.nodes, self.pods, self.quotas, self.teams = {}, {}, {}, {}
        self.claims, self.volumes, self.plans = {}, {}, {}
        self.evictions = {}  # the uid of a pod → the plan that makes room for it
        self.budgets, self.budgets_are_readable = {}, True
        self.groups = []  # the last ones that began
        self.number = 0
        self.often = OFTEN | self.theme.get("often", {})
        asks = objects.SMALL_ASKS if "preempts" in self.theme else objects.GPU_ASKS
        asks = asks + [(weight * self.theme.get("mig_asks", 0.3), ask) for weight, ask in objects.MIG_ASKS]
        self.templates = [self._template(asks) for _ in range(24)]
        self.asks = asks

    def run(self, events):
        self.live(events)
        self.engine.close()

    def live(self, events):
        for _ in range(self.random.randrange(self.nodes_at_most // 4, self.nodes_at_most)):
            self.node_comes()
        for name in self.random.sample(objects.NAMESPACES, len(objects.NAMESPACES) - 1):
            self.namespace_changes(name)
        for name in objects.DEPARTMENTS if "departments" in self.theme else ():
            self._quota(name)
        for number in range(5 if "preempts" in self.theme else 0):
            self._quota(f"quota{number}")
            self.budgets_change()
        for _ in range(120 if "volumes" in self.theme else 0):
            self.wanted_changes()
        for _ in range(self.theme.get("begins_with", FIRST_PODS)):
            self._happens("pod_comes", "others_bind", "namespace_changes", "quota_changes", "storage_changes")
        self._decide()  # not before all is there
        self._tell("Synced")
        for _ in range(events):
            self._time_passes()
            self._happens(*self.often)
            if self.random.random() < 0.65:
                self._decide()
            if self.random.random() < 0.04:
                self._ask()

    # Time.
    def _time_passes(self):
        chance = self.random.random()
        if chance < 0.9:
            self.now += self.random.randrange(300_000)
        elif chance < 0.97:
            self._wake_up()
        elif chance < 0.995:
            self.now += self.random.randrange(3 * SECOND, 30 * SECOND)
        else:
            self.now += self.random.randrange(60 * SECOND, 700 * SECOND)

    def _wake_up(self):
        for _ in range(self.random.randrange(1, 4)):
            if self.wakeup is not None:
                self.now = max(self.now, self.wakeup)
                self._decide()

    def _stamp(self, seconds_from_now=0):
        moment = datetime.datetime.fromtimestamp(self.now // SECOND + seconds_from_now, datetime.timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    # The engine.
    def _tell(self, event, **what):
        self.engine.tell(self.now, {"event": event, **what})

    def _decide(self):
        for _ in range(10_000):
            decision, self.wakeup = self.engine.step(self.now)
            if decision is None:
                return
            if "bind" in decision:
                self._bound(decision["bind"])
            elif "unschedulable" in decision:
                self._refused(decision["unschedulable"])
            elif "prepare" in decision:
                self._prepares(decision["prepare"])
            elif "evict" in decision:
                self._evicts(decision["evict"])
            elif "notPrepared" in decision:
                pod = decision["notPrepared"]["pod"]["uid"]
                self.pods[pod]["stage"] = "waiting"
                self._evicts_no_more(pod)
        raise RuntimeError("the engine decides without end")

    def _bound(self, bind):
        pod = self.pods[bind["pod"]["uid"]]
        pod |= {"stage": "assumed", "node": bind["node"], "charged": bind.get("chargedAs"), "taken": False}
        self._evicts_no_more(bind["pod"]["uid"])

    def _refused(self, refusal):
        # The shell writes it into the pod's condition, and the watch shows that.
        if self.random.random() < 0.1:
            pod = self.pods[refusal["pod"]["uid"]]
            pod["object"]["status"]["conditions"] = [{
                "type": "PodScheduled", "status": "False", "reason": refusal["reason"], "message": refusal["message"]}]
            pod["object"]["status"].pop("nominatedNodeName", None)
            self._show(pod)

    def _ask(self):
        what = self.random.randrange(3)
        if what == 0:
            self.engine.ask(self.now, "accounts")
            return
        waiting = self._some("waiting")
        pod = waiting["object"] if waiting and self.random.random() < 0.5 else self._named(self.random.choice(self.templates), "asked")
        self.engine.ask(self.now, "explain" if what == 1 else "candidates", pod=pod)

    def _happens(self, *what):
        weights = [self.often[each] for each in what]
        getattr(self, self.random.choices(what, weights)[0])()

    def nothing(self):
        pass

    # Pods.
    def _template(self, asks):
        made = objects.template(self.random, asks, self.theme.get("schedulers", [OURS]), self.theme["constrained"])
        with_volumes = self.theme.get("volumes", 0)
        if with_volumes == 1 or (with_volumes and self.random.random() < with_volumes):
            objects.add_volumes(self.random, made)
        if "owners" in self.theme and self.random.random() < self.theme["owners"]:
            owner = f"set{self.random.randrange(4)}"
            made["metadata"]["ownerReferences"] = [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}]
        if "preempts" in self.theme and self.random.random() < 0.1:
            made["spec"]["preemptionPolicy"] = "Never"
        return made

    def _named(self, template, name):
        pod = copy.deepcopy(template)
        pod["metadata"] |= {"name": name, "uid": f"{name}-uid-{self.number}", "generation": 1, "creationTimestamp": self._stamp()}
        return pod

    def _some(self, *stages):
        found = [pod for pod in self.pods.values() if pod["stage"] in stages]
        return self.random.choice(found) if found else None

    @staticmethod
    def _ref(pod):
        metadata = pod["object"]["metadata"]
        return {"namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}

    @staticmethod
    def _as_stored(pod):
        """As the API server has it."""
        if pod["stage"] in ("waiting", "preparing") or (pod["stage"] == "assumed" and not pod["taken"]):
            return pod["object"]
        stored = copy.deepcopy(pod["object"])
        stored["spec"]["nodeName"] = pod["node"]
        if pod["charged"]:
            stored["metadata"]["annotations"]["gpu-scheduler.io/charged-as"] = pod["charged"]
        return stored

    def _show(self, pod):
        self._tell("PodUpserted", object=self._as_stored(pod))

    def pod_comes(self):
        if len(self.pods) >= self.theme.get("pods", PODS):
            for _ in range(self.random.randrange(1, 30)):
                self.pod_goes()
            return
        if self.random.random() < 0.01:
            self.templates[self.random.randrange(len(self.templates))] = self._template(self.asks)
        self.number += 1
        # Now and then a name comes again, with another uid.
        name = f"pod{self.random.randrange(1, self.number) if self.random.random() < 0.03 and self.number > 1 else self.number}"
        if "groups" in self.theme and self.random.random() < 0.7:
            made = self._member(name.replace("pod", "member"))
        else:
            made = self._named(self.random.choice(self.templates), name)
        if "preempts" in self.theme:
            made["spec"]["priority"] = self.random.choice([0, 0, 0, 0, 10, 100])
        if self.random.random() < 0.06:
            made["spec"]["schedulingGates"] = [{"name": "later"}]
            made["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]
        pod = self.pods[made["metadata"]["uid"]] = {"object": made, "stage": "waiting", "ours": True, "taken": False, "charged": None}
        self._show(pod)

    def _member(self, name):
        """A pod of a group that is not complete, mostly; else it is more than the group needs, or comes when others have gone."""
        open_ones = [group for group in self.groups if group["to_come"] > 0]
        if len(open_ones) < 3 or self.random.random() < 0.05:
            group = self._group()
        else:
            group = self.random.choice(open_ones if self.random.random() < 0.93 else self.groups)
        group["to_come"] -= 1
        alike = [each for each in self.templates if (each["metadata"]["namespace"], each["spec"]["schedulerName"]) == group["of"]]
        pod = self._named(self.random.choice(alike) if alike and self.random.random() < 0.15 else group["template"], name)
        if "volumes" in pod["spec"]:
            objects.add_volumes(self.random, pod)  # of its own
        count = self.random.choice(["0", "2", "many"]) if self.random.random() < 0.02 else str(group["min_count"])
        pod["metadata"]["annotations"] |= {"gpu-scheduler.io/pod-group": group["name"], "gpu-scheduler.io/pod-group-min-count": count}
        return pod

    def _group(self):
        """A new one, perhaps with the name of one whose pods still run. Some are never complete."""
        min_count = self.random.choice([1, 2, 2, 3, 4, 8])
        template = self.random.choice(self.templates)
        group = {"name": f"run{self.random.randrange(40)}", "template": template, "min_count": min_count,
                 "of": (template["metadata"]["namespace"], template["spec"]["schedulerName"]),
                 "to_come": max(1, min_count + self.random.choice([-1, 0, 0, 0, 0, 0, 1, 3]))}
        self.groups = self.groups[-11:] + [group]
        return group

    def pod_goes(self):
        pod = self._some(*self.random.choice([("bound",), ("bound",), ("waiting",), ("waiting", "preparing", "assumed", "bound")]))
        if pod is not None:
            self._goes(pod)

    def _goes(self, pod):
        if pod["stage"] == "bound" and self.random.random() < 0.4:
            finished = copy.deepcopy(self._as_stored(pod))
            finished["status"]["phase"] = self.random.choice(["Succeeded", "Failed"])
            self._tell("PodUpserted", object=finished)
        else:
            self._tell("PodDeleted", pod=self._ref(pod))
        del self.pods[pod["object"]["metadata"]["uid"]]

    def pod_changes(self):
        pod = self._some("waiting") if self.random.random() < 0.7 else self._some("assumed", "bound")
        if pod is None:
            return
        metadata, spec = pod["object"]["metadata"], pod["object"]["spec"]
        what = self.random.randrange(5)
        if what < 2:
            spec.pop("schedulingGates", None)
        elif what == 2:
            metadata["labels"]["app"] = self.random.choice(objects.APPS)
        elif what == 3:
            metadata["generation"] += 1
            metadata["annotations"] = {"gpu-scheduler.io/min-gpu-memory": "16Gi"} if self.random.random() < 0.3 else {}
        elif pod["ours"] and self.random.random() < 0.6:
            self._is_deleted(pod)
            return
        self._show(pod)

    def _is_deleted(self, pod, grace=0):
        """It goes later, where it runs."""
        pod["object"]["metadata"]["deletionTimestamp"] = self._stamp(grace)
        self._show(pod)
        if pod["stage"] == "waiting":
            del self.pods[pod["object"]["metadata"]["uid"]]

    def bind_ends(self):
        pod = self._some("assumed")
        if pod is None or pod["taken"]:
            return
        if self.random.random() < 0.15:
            self._tell("BindFailed", pod=self._ref(pod), node=pod["node"], message="409 Conflict: it was changed meanwhile")
            pod["stage"] = "waiting"
            if "deletionTimestamp" in pod["object"]["metadata"]:
                del self.pods[pod["object"]["metadata"]["uid"]]
        else:
            self._tell("BindSucceeded", pod=self._ref(pod), node=pod["node"])
            pod["taken"] = True

    def watch_shows(self):
        pod = self._some("assumed")
        if pod is None:
            return
        pod |= {"stage": "bound", "taken": True}
        self._show(pod)

    def pod_starts(self):
        pod = self._some("bound")
        if pod is not None:
            pod["object"]["status"] |= {"phase": "Running", "startTime": self._stamp()}
            self._show(pod)

    def kubelet_rejects(self):
        """Mostly on one node, for a while: that is what a broken device plugin does."""
        bad = sorted(self.nodes)[self.number // 40 % len(self.nodes)] if self.nodes else None
        for _ in range(self.random.randrange(1, 5)):
            there = [pod for pod in self.pods.values() if pod["stage"] == "bound" and pod["node"] == bad]
            pod = self.random.choice(there) if there and self.random.random() < 0.8 else self._some("bound")
            if pod is None:
                return
            asked = pod["object"]["spec"]["containers"][0]["resources"]["limits"]
            self._tell("PodRejected", pod=self._ref(pod), node=pod["node"], reason="UnexpectedAdmissionError",
                       rejectedAt=self.now - self.random.randrange(2 * SECOND), devices={name: int(n) for name, n in asked.items()})
            self._tell("PodDeleted", pod=self._ref(pod))
            del self.pods[pod["object"]["metadata"]["uid"]]

    def others_bind(self):
        if not self.nodes:
            return
        self.number += 1
        made = self._named(self.random.choice(self.templates), f"theirs{self.number}")
        made["spec"]["schedulerName"] = THEIRS
        node = self.random.choice(list(self.nodes)) if self.random.random() < 0.95 else "gone"
        pod = {"object": made, "stage": "bound", "ours": False, "taken": True, "charged": None, "node": node}
        self.pods[made["metadata"]["uid"]] = pod
        self._show(pod)

    def old_news(self):
        """What is known already, was never true here, or was true before."""
        what = self.random.randrange(6)
        if what == 0 and (pod := self._some("assumed", "bound")):
            self._tell("PodUpserted", object=pod["object"])  # without its node
        elif what == 1 and (pod := self._some("waiting", "assumed", "bound")):
            self._show(pod)
        elif what == 2:
            self._tell("PodDeleted", pod={"namespace": "ns0", "name": "nobody", "uid": "nobody"})
        elif what == 3 and self.nodes:
            self._tell("NodeUpserted", object=self.random.choice(list(self.nodes.values())))
        elif what == 4:
            self._tell("NodeDeleted", name="gone")
        elif what == 5 and (pod := self._some("bound", "waiting")):
            self._tell("BindFailed", pod=self._ref(pod), node="elsewhere", message="late")

    # Nodes.
    def node_comes(self):
        name = f"node{self.random.randrange(self.nodes_at_most):03}"
        self.nodes[name] = objects.node(self.random, name, self.random.choice(self.theme["kinds"].split()))
        self._tell("NodeUpserted", object=self.nodes[name])

    def node_goes(self):
        if len(self.nodes) > 6:
            name = self.random.choice(list(self.nodes))
            del self.nodes[name]
            self._tell("NodeDeleted", name=name)

    def node_changes(self):
        if self.nodes:
            node = self.random.choice(list(self.nodes.values()))
            objects.change_node(self.random, node)
            self._tell("NodeUpserted", object=node)

    def mig_changes(self):
        with_mig = [node for node in self.nodes.values() if "nvidia.com/mig.config" in node["metadata"]["labels"]
               and node["metadata"]["labels"]["nvidia.com/mig.strategy"] == "mixed"]
        if with_mig:
            node = self.random.choice(with_mig)
            objects.change_mig(self.random, node)
            self._tell("NodeUpserted", object=node)

    # What else there is.
    def quota_changes(self):
        if "%s" not in self.theme.get("config", ""):
            return
        departments = objects.DEPARTMENTS if "departments" in self.theme else []
        name = self.random.choice(departments) if departments and self.random.random() < 0.1 else f"quota{self.random.randrange(5)}"
        known = self.quotas.get(name)
        if known and self.random.random() < 0.2:
            del self.quotas[name]
            self._tell("QuotaDeleted", name=name)
            return
        self._quota(name)

    def _quota(self, name):
        known = self.quotas.get(name)
        self.number += 1
        anew = known is None or self.random.random() < 0.1  # deleted and made again, unseen
        old = known and known["metadata"]
        metadata = {"name": name, "uid": f"{name}-{self.number}" if anew else old["uid"], "generation": 1 if anew else old["generation"] + 1,
                    "creationTimestamp": self._stamp() if anew else old["creationTimestamp"]}
        is_department = name in objects.DEPARTMENTS
        make = objects.department if is_department else objects.quota
        made = make(self.random, metadata, self.theme.get("quota_scale", 1))
        if "departments" in self.theme and (not is_department or self.random.random() < 0.1):
            objects.make_part(self.random, made)  # now and then a circle
        if "preempts" in self.theme and self.random.random() < 0.8:
            objects.make_lender(self.random, made)
        self.quotas[name] = made
        self._tell("QuotaUpserted", object=made)

    def namespace_changes(self, name=None):
        name = name or self.random.choice(objects.NAMESPACES)
        if name in self.teams and self.random.random() < 0.1:
            del self.teams[name]
            self._tell("NamespaceDeleted", name=name)
            return
        self.teams[name] = self.random.choice(objects.TEAMS)
        self._tell("NamespaceUpserted", object={"metadata": {"name": name, "uid": name, "labels": {"team": self.teams[name]}}})

    def storage_changes(self):
        what, which = self.random.randrange(8), self.random.randrange(4)
        if what < 4:
            namespace = self.random.choice(objects.NAMESPACES)
            self._tell("ClaimUpserted", object=objects.claim(self.random, namespace, f"claim{which}"))
        elif what < 6:
            self._tell("VolumeUpserted", object=objects.volume(self.random, f"volume{which}"))
        elif what == 6:
            self._tell("ClaimDeleted", namespace=self.random.choice(objects.NAMESPACES), name=f"claim{which}")
        else:
            self._tell("VolumeDeleted", name=f"volume{which}")

    # Volumes that are chosen or made for pods, and room that is made for them.
    def _prepares(self, plan):
        self.pods[plan["pod"]["uid"]] |= {"stage": "preparing", "node": plan["node"]}
        self._evicts_no_more(plan["pod"]["uid"])
        self.plans[plan["plan"]] = plan["writes"]

    def _evicts(self, plan):
        pod = self.pods[plan["pod"]["uid"]]
        pod |= {"stage": "preparing", "node": plan["node"]}
        self.plans[plan["plan"]] = [{"evict": victim} for victim in plan["victims"]]
        self.evictions[plan["pod"]["uid"]] = plan["plan"]
        if self.random.random() < 0.7:
            pod["object"]["status"]["nominatedNodeName"] = plan["node"]
            self._show(pod)

    def _evicts_no_more(self, pod):
        """The shell sends no further deletions. Some may be on their way."""
        plan = self.evictions.pop(pod, None)
        if plan in self.plans and self.random.random() < 0.8:
            del self.plans[plan]

    def victims_go(self):
        """And others that are being deleted."""
        for _ in range(self.random.randrange(1, 5)):
            leaving = [pod for pod in self.pods.values() if pod["taken"] and "deletionTimestamp" in pod["object"]["metadata"]]
            if leaving:
                self._goes(self.random.choice(leaving))

    def _write(self, kept, kind, object):
        self.number += 1
        object["metadata"]["resourceVersion"] = str(self.number)
        kept[object["metadata"].get("namespace", ""), object["metadata"]["name"]] = object
        self._tell(f"{kind}Upserted", object=object)

    def plan_goes_on(self):
        """Its writes or evictions succeed or fail, and a provisioner or the controller of claims does its part."""
        if self.plans and self.random.random() < 0.6:
            plan = self.random.choice(list(self.plans))
            failed = self.random.random() < 0.1
            writes = self.plans.pop(plan)
            if failed:  # of several evictions some may have gone through
                evicts = writes and "evict" in writes[0]
                writes = writes[:self.random.randrange(len(writes))] if evicts else []
            for write in writes:
                self._carry_out(write)
            self._tell("Prepared", plan=plan, failure="409 Conflict: it was changed meanwhile" if failed else "")
            return
        waiting = [claim for claim in self.claims.values() if claim["status"]["phase"] == "Pending"]
        if waiting:
            self._fulfil(self.random.choice(waiting))

    def _carry_out(self, write):
        (what, how), = write.items()
        if what == "evict":
            victim = self.pods.get(how["uid"])
            if victim and "deletionTimestamp" not in victim["object"]["metadata"]:
                self._is_deleted(victim, self.random.choice([0, 30, 30, 600, 7200]))
            return
        named = how["claim"]
        claim = self.claims.get((named["namespace"], named["name"]))
        if claim is None:
            return
        if what == "selectNode":
            claim["metadata"]["annotations"][objects.SELECTED_NODE] = how["node"]
            self._write(self.claims, "Claim", claim)
        elif volume := self.volumes.get(("", how["volume"]["name"])):
            volume["spec"]["claimRef"] = {"namespace": named["namespace"], "name": named["name"], "uid": named["uid"]}
            self._write(self.volumes, "Volume", volume)

    def _fulfil(self, claim):
        metadata = claim["metadata"]
        reserved = [volume for volume in self.volumes.values() if volume["spec"].get("claimRef", {}).get("uid") == metadata["uid"]]
        if not reserved and (objects.SELECTED_NODE in metadata["annotations"] or claim["spec"]["storageClassName"] == "at-once"):
            if self.random.random() < 0.2:
                metadata["annotations"].pop(objects.SELECTED_NODE, None)  # there is no room for it
                self._write(self.claims, "Claim", claim)
                return
            reserved = [objects.made_volume(f"made{self.number}", self.number, claim)]
        if reserved:
            reserved[0]["status"]["phase"] = "Bound"
            self._write(self.volumes, "Volume", reserved[0])
            claim["spec"]["volumeName"] = reserved[0]["metadata"]["name"]
            metadata["annotations"]["pv.kubernetes.io/bind-completed"] = "yes"
            claim["status"]["phase"] = "Bound"
            self._write(self.claims, "Claim", claim)

    def wanted_changes(self):
        what = self.random.randrange(10)
        self.number += 1
        if what < 5:
            namespace, name = self.random.choice(objects.NAMESPACES), f"wanted{self.random.randrange(8)}"
            if (namespace, name) in self.claims and self.random.random() < 0.3:
                del self.claims[namespace, name]
                self._tell("ClaimDeleted", namespace=namespace, name=name)
            else:
                self._write(self.claims, "Claim", objects.wanted_claim(self.random, namespace, name, self.number))
        elif what < 7:
            name = f"local{self.random.randrange(12)}"
            if ("", name) in self.volumes and self.random.random() < 0.5:
                del self.volumes["", name]
                self._tell("VolumeDeleted", name=name)
            else:
                self._write(self.volumes, "Volume", objects.local_volume(self.random, name, self.number))
        elif what == 7:
            name = self.random.choice(list(objects.STORAGE_CLASSES))
            self._tell("StorageClassUpserted", object=objects.storage_class(self.random, name))
        elif self.nodes:
            self._tell("CSINodeUpserted", object=objects.csi_node(self.random, self.random.choice(list(self.nodes))))

    def budgets_change(self):
        if not self.budgets_are_readable or self.random.random() < 0.03:
            self.budgets_are_readable = not self.budgets_are_readable
            self._tell("DisruptionBudgetsReadable", readable=self.budgets_are_readable)
            return
        namespace, name = self.random.choice(objects.NAMESPACES), f"budget{self.random.randrange(2)}"
        known = self.budgets.get((namespace, name))
        if known and self.random.random() < 0.3:
            del self.budgets[namespace, name]
            self._tell("DisruptionBudgetDeleted", namespace=namespace, name=name)
            return
        if not known or self.random.random() < 0.9:  # else what is known comes again
            self.number += 1
            pods = [metadata["name"] for pod in self.pods.values() if (metadata := pod["object"]["metadata"])["namespace"] == namespace]
            known = objects.disruption_budget(self.random, namespace, name, self.number, pods)
        self.budgets[namespace, name] = known
        self._tell("DisruptionBudgetUpserted", object=known)

    def owners_change(self):
        namespace, labels = self.random.choice(objects.NAMESPACES), {"app": self.random.choice(objects.APPS)}
        kind, name = self.random.choice([("Service", "service"), ("ReplicaSet", "set")])
        name += str(self.random.randrange(4))
        if self.random.random() < 0.25:
            self._tell(f"{kind}Deleted", namespace=namespace, name=name)
            return
        self._tell(f"{kind}Upserted", object={
            "metadata": {"name": name, "namespace": namespace, "uid": name},
            "spec": {"selector": labels if kind == "Service" else {"matchLabels": labels}}})

    def class_changes(self):
        name = self.random.choice(objects.CLASSES)
        if self.random.random() < 0.3:
            self._tell("DeviceClassDeleted", name=name)
            return
        served = self.random.choice(["nvidia.com/gpu", "amd.com/gpu", ""])
        self._tell("DeviceClassUpserted", object={
            "metadata": {"name": name, "uid": name}, "spec": {"extendedResourceName": served} if served else {}})
