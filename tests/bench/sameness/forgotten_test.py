"""That no pod is forgotten: when a random world has come to rest, an engine that begins anew places none of the pods that wait.

With the path of `bench` as argument. The two engines need not agree where one knows more than the objects say: so nothing is rejected or
fails in these worlds, no quota is deleted, there are no budgets, and nothing is held for pods that have waited long.
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
        self.often = self.often | {"kubelet_rejects": 0, "budgets_change": 0}

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

    def placed_anew(self):
        """What an engine that begins now would do with the pods that wait."""
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
        anew.close()
        return placed


class Forgotten(unittest.TestCase):
    def test_no_pod_waits_that_would_be_placed_anew(self):
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
                        self.assertEqual(lives.placed_anew(), [])
                    lives.engine.close()
        self.assertGreater(rested, 5)


unittest.main()
