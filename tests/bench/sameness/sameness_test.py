"""That two builds that decide alike are called the same, and that each difference is found; with the path of `bench` as argument.

The other build is `bench` behind a script that changes what it is told: a build with another tie-break, or without `bench answer`.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "bench/sameness"))

import engine  # noqa: E402
import kinds  # noqa: E402
import sameness  # noqa: E402
import world  # noqa: E402

BENCH = str(pathlib.Path(sys.argv.pop(1)).resolve())

# Which of equally good nodes it takes is drawn from other seeds, and drawn in its default policy.
OTHER_TIES = """
def told(line):
    return line.replace("tieBreakSeed: 11", "tieBreakSeed: 12").replace("tieBreakSeed: 7", "tieBreakSeed: 8")
POLICIES = {"default": FOLDER + "/default.yaml"}
"""
# It ends at the configuration of one theme.
ENDS = """
def told(line):
    if "spreads" in line:
        os._exit(3)
    return line
POLICIES = {}
"""
NOTHING_ELSE = """
def told(line):
    return line
POLICIES = {}
"""
SCRIPT = """#!{python}
import os, subprocess, sys
FOLDER = {folder!r}
{changes}
arguments = sys.argv[1:]
if arguments[0] == "answer":
    if {old}:
        sys.exit(2)
    if "--help" in arguments:
        sys.exit(0)
    made = subprocess.Popen([{bench!r}, "answer"], stdin=subprocess.PIPE, text=True)
    made.stdin.write(told(sys.stdin.readline()))
    for line in sys.stdin:
        made.stdin.write(line)
        made.stdin.flush()
    made.stdin.close()
    sys.exit(made.wait())
if "--recording" in arguments:
    first, rest = open(arguments[-1]).read().split("\\n", 1)
    open(arguments[-1], "w").write(told(first) + "\\n" + rest)
os.execv({bench!r}, [{bench!r}] + [POLICIES.get(word, word) for word in arguments])
"""


class Sameness(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        policy = (ROOT / "manifests/policies/default.yaml").read_text()
        self.assertNotIn("profiles:", policy)
        (self.folder / "default.yaml").write_text(policy + "profiles: [{schedulerName: gpu-scheduler, tieBreak: shuffled-nodes}]\n")

    def build(self, changes=NOTHING_ELSE, old=False):
        """Another build's `bench`."""
        script = self.folder / "bench"
        script.write_text(SCRIPT.format(python=sys.executable, folder=str(self.folder), changes=changes, bench=BENCH, old=old))
        script.chmod(0o755)
        return str(script)

    def compare(self, base, corpus):
        """What is said of the difference; None: the same."""
        try:
            self.assertGreater(corpus(base, BENCH, self.folder).total(), 100)
        except sameness.Difference as difference:
            return str(difference)
        return None

    def test_builds_that_decide_alike_are_the_same(self):
        corpora = [sameness.random_events("profiles", 1, 400), sameness.trace(*self.sample(), "default", "--until", "1d")]
        for old in (False, True):
            for corpus in corpora:
                self.assertIsNone(self.compare(self.build(old=old), corpus))

    def test_another_tie_break_is_found_in_random_events(self):
        for old in (False, True):
            said = self.compare(self.build(OTHER_TIES, old), sameness.random_events("profiles", 1, 400))
            self.assertRegex(said, r'line \d+: {"at":\d+,"event":(.*\n)*  step\.bind\.node\n    base: "node\d+"\n    new:  "node\d+"')

    def test_another_tie_break_is_found_in_a_trace(self):
        said = self.compare(self.build(OTHER_TIES), sameness.trace(*self.sample(), "default", "--until", "1d"))
        self.assertRegex(said, r'decisions.jsonl, line \d+\n(.*\n)*  node\n')

    def test_the_exit_code_says_it(self):
        def code(base):
            return subprocess.run(
                [sys.executable, "-B", ROOT / "bench/sameness/sameness.py", base, BENCH, "random profiles 1", "--events", "300",
                 "--keep", self.folder / "kept"], stdout=subprocess.DEVNULL).returncode
        self.assertEqual(code(self.build()), 0)
        self.assertEqual(code(self.build(OTHER_TIES)), 1)
        self.assertEqual([file.name for file in (self.folder / "kept").iterdir()], ["random-profiles-1-calls.jsonl"])

    def test_where_one_ends_the_others_are_compared(self):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "bench/sameness/sameness.py", self.build(ENDS), BENCH, "random profiles 1", "random default 1",
             "--events", "300", "--keep", self.folder / "kept"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stdout, r"random profiles 1: NOT COMPARED\n.* ended with 3")
        self.assertRegex(done.stdout, r"random default 1: the same, \d+ answers")
        self.assertTrue(done.stdout.endswith("NOT COMPARED: 1 of 2 corpora: random profiles 1\n"), done.stdout)
        self.assertEqual([file.name for file in (self.folder / "kept").iterdir()], ["random-profiles-1-calls.jsonl"])

    def test_a_wake_up_and_an_explanation_are_compared_too(self):
        for name in ("wakeup", "answer"):
            old, new = ('{"at":1,"step":null,"wakeup":%s}' % at if name == "wakeup" else '{"at":1,"ask":"explain","answer":%s}' % at
                        for at in (5, 6))
            said = sameness.difference_at(1, ["header", '{"at":1,"step":null}'], old, new)
            self.assertEqual(said, f'line 2: {{"at":1,"step":null}}\n  {name}\n    base: 5\n    new:  6')

    @staticmethod
    def sample():
        return sameness.SAMPLE / "nodes.csv", sameness.SAMPLE / "pods.csv"


class Calls(unittest.TestCase):
    """What random worlds have found: calls at which an engine once ended."""

    def last_step(self, name):
        calls = (pathlib.Path(__file__).parent / "calls" / name).read_text().splitlines()
        return json.loads(engine.answers_of(BENCH, calls)[-1])["step"]

    def test_a_pod_that_became_of_another_kind_is_searched_for_once(self):
        self.assertEqual(self.last_step("one-pod-of-two-kinds.jsonl")["bind"]["node"], "node005")

    def test_a_bind_is_not_believed_while_its_plan_makes_room(self):
        self.assertIsNone(self.last_step("bind-before-its-plan.jsonl"))


class Worlds(unittest.TestCase):
    @staticmethod
    def live(theme, seed, events):
        made = []

        def engine_of(config):
            made.append(engine.Engine(BENCH, engine.header(config)))
            return made[0]

        world.World(seed, theme, engine_of).run(events)
        return made[0]

    def test_together_they_show_every_kind_of_decision(self):
        seen = collections.Counter()
        seeds = {"groups": 2, "preemption": 4, "profiles": 2}  # worlds that show more than the first
        for theme in world.THEMES:
            events = 1800 if os.environ.get("GPU_SCHEDULER_TEST_FULL") else 1000
            seen.update(kinds.histogram(self.live(theme, seeds.get(theme, 1), events).answers))
        self.assertEqual([kind for kind in kinds.WANTED if kind not in seen], [])

    def test_a_seed_is_one_world(self):
        self.assertEqual(self.live("quota", 7, 150).calls, self.live("quota", 7, 150).calls)


if __name__ == "__main__":
    unittest.main()
