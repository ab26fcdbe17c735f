#!/usr/bin/env bash
# Puts the fault proxy between the scheduler and the API server, at full size: 1,000 faults, a storm of each kind, two replicas that elect
# a leader, and the second transport. Builds what is needed first, the scheduler with AddressSanitizer and UBSan.
#
#   tests/cluster/faults.sh [--faults N] [--seed N] [GO TEST FLAGS…]     for example: --faults 5000 -test.run 'Faults$'
#
# Without a seed it takes a new one each time, and says which. The log is build/logs/faults.log; those of the processes are in
# build/cluster/e2e-faults/plane-*/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export E2E_FULL=1 E2E_SEED=$RANDOM E2E_DIR=build/cluster/e2e-faults
while true; do
  case ${1:-} in
    --faults) export E2E_FAULTS=${2:?--faults needs a number} ;;
    --seed) E2E_SEED=${2:?--seed needs a number} ;;
    *) break ;;
  esac
  shift 2
done
logs=build/logs
mkdir -p "$logs"
{ cmake --preset dev && cmake --build --preset dev --target gpu-scheduler; } >"$logs/faults-build.log" 2>&1 ||
  { tail -n 20 "$logs/faults-build.log" >&2; exit 1; }
tests/cluster/build.sh
export GPU_SCHEDULER_BIN=$PWD/build/dev/bin/gpu-scheduler GPU_SCHEDULER_ARGS="--http-bind-address=127.0.0.1:0 --secure-port=0"
build/cluster/bin/e2e.test -test.v -test.timeout 24h -test.run 'Faults' "$@" 2>&1 | tee "$logs/faults.log"
