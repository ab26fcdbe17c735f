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
# Any free port, so that two runs on one machine do not meet.
export GPU_SCHEDULER_ARGS=${GPU_SCHEDULER_ARGS---http-bind-address=127.0.0.1:0 --secure-port=0}
if [ "${1:-}" = --threads ]; then
  shift
  # Watches, binds and explanations; two replicas; both transports; a credential plugin; the API server gone, and in trouble; quotas.
  threads='^Test(PlacesAndExplains|LeaderIsKilled|LeaderGivesBack|TransportOnCpprestsdk|CredentialPlugin|EndsWhileCredentialPluginRuns|APIServerGoesAway|Faults|QuotasChangeUnderLoad)$'
  export E2E_DIR=${E2E_DIR:-build/cluster/e2e-threads}
  # ThreadSanitizer makes everything slow, and the other tests the machine.
  export E2E_LEASE=${E2E_LEASE:-12s}
  exec "$bin/e2e.test" -test.v -test.timeout 60m -test.run "$threads" "$@"
fi
export E2E_DIR=${E2E_DIR:-build/cluster/e2e}

harness() {
  local tests child= outcome=0
  trap 'kill $child; exit 1' TERM
  for tests in measure compare soak controlplane history faults parity draw parity-run lockstep lockstep-run; do
    "$bin/$tests.test" -test.v -test.timeout 60m "$@" &
    child=$!
    wait $child || outcome=1
  done
  return $outcome
}

mkdir -p "$E2E_DIR"
harness "$@" >"$E2E_DIR/harness.log" 2>&1 &
harness=$!
trap 'kill $harness 2>/dev/null || true' EXIT
outcome=0
"$bin/e2e.test" -test.v -test.timeout 60m "$@" || outcome=1
wait $harness || outcome=1
trap - EXIT
cat "$E2E_DIR/harness.log"
exit $outcome
