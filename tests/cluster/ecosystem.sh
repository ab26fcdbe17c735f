#!/usr/bin/env bash
# Tests with other projects' programs, which make test does not build: the chart with Helm, alerts and dashboards with Prometheus, and the commands
# of the pages. Builds what is needed first.
#
#   tests/cluster/ecosystem.sh [GO TEST FLAGS…]     for example: -test.run Chart
#
# GPU_SCHEDULER_BIN is the scheduler to try; without it the release is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests/cluster/build.sh --ecosystem
if [ -z "${GPU_SCHEDULER_BIN:-}" ]; then
  make build >build/logs/ecosystem-build.log 2>&1 || { tail -n 20 build/logs/ecosystem-build.log >&2; exit 1; }
fi
exec build/cluster/bin/ecosystem.test -test.v -test.timeout 30m "$@"
