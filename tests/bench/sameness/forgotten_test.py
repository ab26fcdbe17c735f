"""That no pod is forgotten: when a random world has come to rest, an engine that begins anew places none of the pods that wait, and has
the same accounts.

With the path of `bench` as argument. The two engines need not agree where one knows more than the objects say: so nothing is rejected or
fails in these worlds, no quota is deleted, there are no budgets, and nothing is held for pods that have waited long. In them, objects are
also deleted and made again under their names, pods are resized or end while they leave, and lists come with the deletions that a watch
has missed.
"""
import copy
import json
import os
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "bench/sameness"))

import engine  # noqa: E402
import objects  # noqa: E402
import world  # noqa: E402

BENCH = str(pathlib.Path(sys.argv.pop(1)).resolve())


def begin(config):
    return engine.Engine(BENCH, engine.header(re.sub(r"holdAfter: \w+", "holdAfter: 24h", config)))


class RestingWorld(world.World):
    """One in which nothing fails, and that comes to rest."""

    def __init__(self, seed, theme):
        self.objects = {}  # the kind, namespace and name of each object but pods → the object
        super().__init__(seed, theme, begin)
        self.often = self.often | {"kubelet_rejects": 0, "budgets_change": 0, "node_is_made_again": 1.5, "pod_is_made_again": 3, "pod_is_resized": 2,
                                   "pod_ends_early": 2, "pod_is_bound_elsewhere": 1, "lists_come": 0.4}

    def _tell(self, event, **what):
        if event.endswith("Upserted") and event != "PodUpserted":
            metadata = what["object"]["metadata"]
            self.objects[event[:-8], metadata.get("namespace", ""), metadata["name"]] = copy.deepcopy(what["object"])
        elif event.endswith("Deleted") and event != "PodDeleted":
            self.objects.pop((event[:-7], what.get("namespace", ""), what["name"]), None)
        super()._tell(event, **what)

    def _refused(self, refusal):
        pass

    def budgets_change(self):
        pass

    def bind_ends(self):
        pod = self._some("assumed")
        if pod is not None and not pod["taken"]:
            self._bind_succeeds(pod)

    def quota_changes(self):
        if "%s" in self.theme.get("config", ""):
            departments = objects.DEPARTMENTS if "departments" in self.theme else []
            self._quota(self.random.choice([f"quota{number}" for number in range(5)] + departments))

    def node_is_made_again(self):
        if self.nodes:
            name = self.random.choice(list(self.nodes))
            self._tell("NodeDeleted", name=name)
            if self.random.random() < 0.5:
                self._decide()
            self.nodes[name] = objects.node(self.random, name, self.random.choice(self.theme["kinds"].split()))
            self._tell("NodeUpserted", object=self.nodes[name])

    def pod_is_made_again(self):
        """As by a StatefulSet, after it was deleted by force."""
        pod = self._some(self.random.choice(["waiting", "preparing", "assumed", "bound"]))
        if pod is None or not pod["ours"]:
            return
        del self.pods[pod["object"]["metadata"]["uid"]]
        self._tell("PodDeleted", pod=self._ref(pod))
        if self.random.random() < 0.3:
            self._decide()
        self.number += 1
        made = self._named(pod["object"], pod["object"]["metadata"]["name"])
        made["metadata"].pop("deletionTimestamp", None)
        made["status"] = {"phase": "Pending"}
        new = self.pods[made["metadata"]["uid"]] = {"object": made, "stage": "waiting", "ours": True, "taken": False, "charged": None}
        self._show(new)
        if pod["stage"] == "assumed" and not pod["taken"]:
            self._tell("BindFailed", pod=self._ref(pod), node=pod["node"], message="409 Conflict: another pod has its name",
                       because="Overtaken")

    def pod_is_resized(self):
        pod = self._some("bound")
        if pod is None:
            return
        had = dict(pod["object"]["spec"]["containers"][0]["resources"]["requests"])
        asked = had | {"cpu": self.random.choice(["1", "4", "30"])}
        given = self.random.choice([had, asked])
        pod["object"]["spec"]["containers"][0]["resources"]["requests"] = asked
        pod["object"]["status"] |= {
            "conditions": [{"type": "PodResizePending", "status": "True", "reason": self.random.choice(["Deferred", "Infeasible"])}],
            "containerStatuses": [{"name": "main", "resources": {"requests": had}, "allocatedResources": given}]}
        self._show(pod)

    def pod_ends_early(self):
        """While it leaves, or before it has a node."""
        pod = self._some("waiting", "preparing", "bound")
        if pod is None or not pod["ours"]:
            return
        if pod["stage"] == "bound":
            self._is_deleted(pod, 600)
            self._decide()
        ended = copy.deepcopy(self._as_stored(pod))
        ended["status"]["phase"] = "Failed"
        self._tell("PodUpserted", object=ended)
        del self.pods[pod["object"]["metadata"]["uid"]]

    def pod_is_bound_elsewhere(self):
        pod = self._some("waiting", "preparing", "assumed")
        if pod is None or pod["taken"] or not self.nodes:
            return
        was, chosen = pod["stage"], pod.get("node")
        pod |= {"stage": "bound", "taken": True, "node": self.random.choice(list(self.nodes)), "charged": None}
        self._show(pod)
        if was == "assumed":
            self._tell("BindFailed", pod=self._ref(pod), node=chosen, message="409 Conflict: it is bound already", because="Overtaken")

    def lists_come(self):
        gone = [pod for pod in self.pods.values() if self.random.random() < 0.1]
        for pod in gone:
            del self.pods[pod["object"]["metadata"]["uid"]]
        for node in self.nodes.values():
            self._tell("NodeUpserted", object=node)
        for pod in self.pods.values():
            self._show(pod)
        for pod in gone:
            self._tell("PodDeleted", pod=self._ref(pod))

    def _bind_succeeds(self, pod):
        self._tell("BindSucceeded", pod=self._ref(pod), node=pod["node"])
        pod["taken"] = True

    def rest(self):
        """Whether it does: what was begun is ended, and then nothing happens for some seconds."""
        quiet_rounds = 0
        for _ in range(60):
            quiet_rounds = 0 if self._ends_what_was_begun() else quiet_rounds + 1
            if quiet_rounds == 6:
                return True
            self.now += 2 * world.SECOND
        return False

    def _ends_what_was_begun(self):
        said, told = len(self.engine.answers), len(self.engine.calls)
        self._decide()
        decided = any(answer and json.loads(answer).get("step") for answer in self.engine.answers[said:])
        told = len(self.engine.calls)
        for pod in list(self.pods.values()):
            if pod["stage"] == "assumed":
                if not pod["taken"]:
                    self._bind_succeeds(pod)
                pod["stage"] = "bound"
                self._show(pod)
        for plan in list(self.plans):
            for write in self.plans.pop(plan):
                self._carry_out(write)
            self._tell("Prepared", plan=plan, failure="")
        for pod in list(self.pods.values()):
            if pod["taken"] and "deletionTimestamp" in pod["object"]["metadata"]:
                self._goes(pod)
        for claim in list(self.claims.values()):
            if claim["status"]["phase"] == "Pending":
                self._fulfil(claim)
        return decided or len(self.engine.calls) > told

    def begun_anew(self):
        """What an engine that begins now would do with the pods that wait, and its accounts then."""
        anew = engine.Engine(BENCH, self.engine.calls[0])
        for (kind, _, _), known in self.objects.items():
            anew.tell(self.now, {"event": f"{kind}Upserted", "object": known})
        for pod in self.pods.values():
            anew.tell(self.now, {"event": "PodUpserted", "object": self._as_stored(pod)})
        anew.tell(self.now, {"event": "Synced"})
        placed = []
        while (decision := anew.step(self.now)[0]) is not None:
            (kind, what), = decision.items()
            if kind in ("bind", "prepare", "evict"):
                placed.append((kind, what["pod"]["name"], what["node"]))
        accounts = self._accounts_of(anew)
        anew.close()
        return placed, accounts

    def accounts(self):
        return self._accounts_of(self.engine)

    def _accounts_of(self, asked):
        """Without what waiting pods ask for: a pod is in no line if nodes were ruled out for it before its quota was used up."""
        accounts = asked.ask(self.now, "accounts")
        for quota in accounts["quotas"]:
            for use in [quota["status"]["total"], *quota["status"]["quotas"]]:
                del use["pending"]
        return accounts


class Forgotten(unittest.TestCase):
    def test_an_engine_that_begins_anew_finds_nothing_to_do(self):
        seeds = range(1, 9) if os.environ.get("GPU_SCHEDULER_TEST_FULL") else range(1, 2)
        rested = 0
        for theme in world.THEMES:
            if theme == "large":
                continue
            for seed in seeds:
                with self.subTest(theme=theme, seed=seed):
                    lives = RestingWorld(seed, theme)
                    lives.live(600)
                    if lives.rest():
                        rested += 1
                        placed, accounts = lives.begun_anew()
                        self.assertEqual(placed, [])
                        self.assertEqual(lives.accounts(), accounts)
                    lives.engine.close()
        self.assertGreater(rested, 5)


unittest.main()
