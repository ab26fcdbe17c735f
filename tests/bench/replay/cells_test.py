"""That cells.py counts where a policy is ahead, equal and behind, and finds where it is furthest behind."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CELLS = pathlib.Path(__file__).parents[3] / "bench/replay/cells.py"


def run(trace, policy, seed, value):
    return {"trace": trace, "arrival": "stationary:95", "policy": policy, "seed": seed,
            "figures": {"gpu_waiting": value}}


class Cells(unittest.TestCase):
    def cells(self, runs, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "summary.json"
            path.write_text(json.dumps({"runs": runs}))
            return subprocess.run([sys.executable, CELLS, path, *arguments], capture_output=True, text=True, check=False)

    def test_counts(self):
        runs = []
        for trace, own, its in (("a", 1.0, 2.0), ("b", 2.0, 2.0), ("c", 3.0, 2.0), ("d", 2.2, 2.0)):
            for seed in (1, 2):
                runs += [run(trace, "default", seed, own + seed - 1.5), run(trace, "fgd", seed, its + seed - 1.5)]
        out = self.cells(runs)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("| a | stationary:95 | 1.00 | 2.00 |", out.stdout)
        self.assertIn("default and fgd: ahead in 1, equal in 1, behind in 2, by at most 50.0 % (c, stationary:95)", out.stdout)
        self.assertIn("ahead in 1, equal in 2, behind in 1,", self.cells(runs, "--margin", "0.5").stdout)

    def test_bad_input(self):
        self.assertIn("no run of default", self.cells([run("a", "fgd", 1, 1.0)]).stderr)
        self.assertIn("seed 1 twice", self.cells([run("a", "default", 1, 1.0)] * 2).stderr)
        self.assertIn("no figure nothing", self.cells([run("a", "default", 1, 1.0)], "--figure", "nothing").stderr)


if __name__ == "__main__":
    unittest.main()
