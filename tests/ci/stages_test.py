#!/usr/bin/env python3
"""What .ci/stages.sh says of a stage of tests by its log, and how the run ends: with 1 if a test failed, or was skipped that must not be."""

import pathlib
import re
import shutil
import subprocess
import tempfile

CI = pathlib.Path(__file__).resolve().parents[2] / ".ci"
MAY_SKIP = "TestLarge|TestOther(One|Two)"

# The log, what the stage says, and how the run ends.
CASES = {
    "all pass": ("--- PASS: TestA (0.01s)\n--- PASS: TestB (0.01s)\n", "2 passed, 0 failed", 0),
    "one fails": ("--- PASS: TestA (0.01s)\n--- FAIL: TestB (0.01s)\n", "1 passed, 1 failed", 1),
    "nothing was run": ("", "0 passed, 1 failed", 1),
    "only such are skipped as may be": (
        "--- PASS: TestA (0.01s)\n--- SKIP: TestLarge (0.00s)\n--- SKIP: TestOtherTwo (0.00s)\n", "1 passed, 0 failed, 2 skipped", 0),
    "another is skipped": ("--- PASS: TestA (0.01s)\n--- SKIP: TestLargest (0.00s)\n", "1 passed, 0 failed, 1 skipped", 1),
    "a part of one is skipped": ("--- PASS: TestA (0.01s)\n    --- SKIP: TestA/TestLarge (0.00s)\n", "1 passed, 0 failed, 1 skipped", 1),
    "ctest skips one": (
        " 1/2 Test   #1: a sum .............   Passed    0.01 sec\n 2/2 Test   #2: a product .........***Skipped   0.01 sec\n",
        "1 passed, 0 failed, 1 skipped", 1),
    "a case has no data": (
        " 1/1 Test   #1: sums ..............   Passed    0.01 sec\nprogram of cases: All tests passed (9 assertions in 3 test cases)\nno data: no sums\n",
        "3 passed, 0 failed, 1 skipped", 0),
}

for name, (log, want, code) in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(CI, f"{folder}/.ci")
        pathlib.Path(folder, "log").write_text(log, encoding="utf-8")
        script = f". .ci/stages.sh; may_skip='{MAY_SKIP}'; tests some 'some tests' cat log; finish"
        done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    line, last = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
    assert re.fullmatch(rf"some +some tests +{'FAILED' if code else 'ok'} +\d+ s   {want}", line), f"{name}: {line!r}"
    assert done.returncode == code, f"{name}: ended with {done.returncode}, want {code}: {done.stdout} {done.stderr}"
    assert last.endswith(want.partition(", 0 failed")[2]) and not done.stderr, f"{name}: {last!r} {done.stderr}"
