#!/usr/bin/env bash
# Runs the tests that need a real API server, on what build.sh built.
#
#   tests/cluster/test.sh [--full] [--threads] [GO TEST FLAGS…]     for example: --full -test.run Killed
#
# --full takes the full sizes: 2,000 pods, 25 kills, 1,000 faults and a storm of each kind. The tests of the harness itself run
# beside those of the scheduler, and are printed after them. The processes' logs are in build/cluster/e2e/plane-*/logs/.
#
# --threads takes the tests that between them make all of the scheduler's threads work, and none of the harness: for a scheduler built
# with ThreadSanitizer. Its logs are in build/cluster/e2e-threads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [ "${1:-}" = --full ]; then
  export E2E_FULL=1
  shift
fi
bin=build/cluster/bin
# Beside the scheduler there is the bench of the same build, whose verdicts are compared with kube-scheduler's plugins.
export BENCH_BIN=${BENCH_BIN-$(dirname "${GPU_SCHEDULER_BIN:-build/release/bin/gpu-scheduler}")/bench} PARITY_DIR=${PARITY_DIR:-build/parity}
export LOCKSTEP_DIR=${LOCKSTEP_DIR:-build/lockstep}
# A control plane that collects its garbage less often takes an eighth less of the processor, for some 200 MB more.
export GOGC=${GOGC-400} GOMEMLIMIT=${GOMEMLIMIT-1GiB}
# So does one whose programs run Go code on one thread at a time: a tenth less, because threads do not wake each other for little.
export GOMAXPROCS=${GOMAXPROCS-1}
# For each of its connections cpprestsdk reads the certificates of the system, which no test needs and the image does not have: that was
# most of the scheduler's work in the tests of that transport.
export SSL_CERT_FILE=/dev/null
# Any free port, so that two runs on one machine do not meet.
export GPU_SCHEDULER_ARGS=${GPU_SCHEDULER_ARGS---http-bind-address=127.0.0.1:0 --secure-port=0}

# Where a program of tests fails and names no test (nothing could be started, or it ended in the middle), a line like a test's says so.
name_failure() {  # LOG PROGRAM CODE
  [ "$3" != 0 ] && ! grep -q '^ *--- FAIL: ' "$1" || return 0
  printf '=== NAME  %s.test\n%s\n--- FAIL: %s.test (exit code %d)\n' "$2" "$(tail -n 20 "$1" | grep -v '^===')" "$2" "$3"
}

# Takes the tests of the scheduler and prints what they print.
e2e() {  # GO TEST FLAGS…
  local log=$E2E_DIR/e2e.log code=0
  "$bin/e2e.test" -test.v -test.timeout 60m "$@" 2>&1 | tee "$log" || code=${PIPESTATUS[0]}
  name_failure "$log" e2e "$code"
  return "$code"
}

# Takes programs of tests one after the other, with the output of each in a file.
harness() {  # PROGRAMS GO TEST FLAGS…
  local tests log child= code outcome=0 programs=$1
  shift
  trap 'kill $child; exit 1' TERM
  for tests in $programs; do
    log=$E2E_DIR/$tests.log
    "$bin/$tests.test" -test.v -test.timeout 60m "$@" >"$log" 2>&1 &
    child=$!
    code=0
    wait $child || code=$? outcome=1
    name_failure "$log" "$tests" $code >>"$log"
  done
  return $outcome
}
# Those of the harness, and the one that waits nearly all of its time, beside them.
harness_tests='measure compare soak controlplane history faults parity draw parity-run lockstep'
waiting_tests=lockstep-run

if [ "${1:-}" = --threads ]; then
  shift
  # Watches, binds and explanations; two replicas; both transports; a credential plugin; the API server gone, and in trouble; quotas.
  threads='^Test(PlacesAndExplains|LeaderIsKilled|LeaderGivesBack|TransportOnCpprestsdk|CredentialPlugin|EndsWhileCredentialPluginRuns|APIServerGoesAway|Faults|QuotasChangeUnderLoad)$'
  export E2E_DIR=${E2E_DIR:-build/cluster/e2e-threads}
  # ThreadSanitizer makes everything slow, and the other tests the machine, beside which they run.
  export E2E_LEASE=${E2E_LEASE:-12s} E2E_PLANES=${E2E_PLANES:-3}
  mkdir -p "$E2E_DIR"
  e2e -test.run "$threads" "$@"
  exit
fi
export E2E_DIR=${E2E_DIR:-build/cluster/e2e}
mkdir -p "$E2E_DIR"
for tests in $harness_tests $waiting_tests; do : >"$E2E_DIR/$tests.log"; done
harness "$harness_tests" "$@" &
beside=$!
harness "$waiting_tests" "$@" &
beside="$beside $!"
trap 'kill $beside 2>/dev/null || true' EXIT
outcome=0
e2e "$@" || outcome=1
for each in $beside; do wait "$each" || outcome=1; done
trap - EXIT
for tests in $harness_tests $waiting_tests; do cat "$E2E_DIR/$tests.log"; done
exit $outcome
