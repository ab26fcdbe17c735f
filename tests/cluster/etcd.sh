#!/usr/bin/env bash
# Binds under load on three etcds of which one is killed with a bind in its hands, or stands still with it, or whose answers are lost, twenty times
# over. Builds what is needed first, the scheduler with AddressSanitizer and UBSan.
#
#   tests/cluster/etcd.sh [--runs N] [GO TEST FLAGS…]
#
# The log is build/logs/etcd.log; those of the processes are in build/cluster/e2e-etcd/plane-*/logs/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=20
if [ "${1:-}" = --runs ]; then
  runs=${2:?--runs needs a number}
  shift 2
fi
logs=build/logs
mkdir -p "$logs"
{ cmake --preset dev && cmake --build --preset dev --target gpu-scheduler; } >"$logs/etcd-build.log" 2>&1 ||
  { tail -n 20 "$logs/etcd-build.log" >&2; exit 1; }
tests/cluster/build.sh
export E2E_DIR=${E2E_DIR:-build/cluster/e2e-etcd} GPU_SCHEDULER_BIN=${GPU_SCHEDULER_BIN:-$PWD/build/dev/bin/gpu-scheduler}
export GPU_SCHEDULER_ARGS=--http-bind-address=127.0.0.1:0
build/cluster/bin/e2e.test -test.v -test.timeout 24h -test.run EtcdTrouble -test.count "$runs" "$@" 2>&1 | tee "$logs/etcd.log"
