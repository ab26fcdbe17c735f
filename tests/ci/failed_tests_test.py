#!/usr/bin/env python3
"""What .ci/failed_tests.awk says of the logs of tests: which failed, and the last lines of each."""

import pathlib
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".ci/failed_tests.awk"

CASES = {
    "what a test said, not what its neighbours did": ("""\
=== RUN   TestA
=== RUN   TestB
    b_test.go:1: of b
=== NAME  TestA
    a_test.go:1: of a
--- FAIL: TestA (0.01s)
=== NAME  TestB
    b_test.go:2: more of b
--- PASS: TestB (0.02s)
FAIL
""", "TestA\n      a_test.go:1: of a\n"),
    "of each message its first lines": ("""\
=== RUN   TestA
    a_test.go:1: 1 pod is on the wrong node
    main_test.go:1: what the scheduler said:
        one
        two
        three
        four
    a_test.go:2: the end
--- FAIL: TestA (0.01s)
""", "TestA\n      a_test.go:1: 1 pod is on the wrong node\n      main_test.go:1: what the scheduler said:\n          one\n          two\n"
     "          three\n      a_test.go:2: the end\n"),
    "a panic": ("""\
=== RUN   TestA
--- FAIL: TestA (0.01s)
panic: too large
""", "TestA\n  panic: too large\n"),
    "a program that could not begin, and the next one": ("""\
=== NAME  controlplane.test
etcd ended before it was ready
--- FAIL: controlplane.test (exit code 1)
=== RUN   TestA
    a_test.go:1: of a
--- PASS: TestA (0.01s)
PASS
""", "controlplane.test\n  etcd ended before it was ready\n"),
    "ctest": ("""\
        Start   1: a sum
 1/2 Test   #1: a sum .............***Failed    0.01 sec
1 != 2
        Start   2: a product
 2/2 Test   #2: a product .........   Passed    0.01 sec
""", "a sum\n  1 != 2\n"),
    "nothing": ("=== RUN   TestA\n--- PASS: TestA (0.01s)\nPASS\n", ""),
}

for name, (log, want) in CASES.items():
    got = subprocess.run(["awk", "-v", "most=20", "-f", SCRIPT], input=log, capture_output=True, text=True, check=True).stdout
    assert got == want, f"{name}: {got!r}, want {want!r}"
print(f"{len(CASES)} logs")
