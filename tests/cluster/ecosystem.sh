#!/usr/bin/env bash
# Tests with other projects' programs, which make test does not build: the chart with Helm, alerts and dashboards with Prometheus, the scheduler's
# page in Debian's chromium, jobs of Kueue, JobSet, LeaderWorkerSet, Prefect, KubeRay, Argo Workflows, Kubeflow and Karpenter, and the commands of the docs. Builds what is needed first.
#
#   tests/cluster/ecosystem.sh [GO TEST FLAGS…]     for example: -test.run Chart
#
# GPU_SCHEDULER_BIN is the scheduler to try; without it the release is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests/cluster/build.sh --ecosystem
# What drives the browser, by its lock file.
drives=build/cluster/bin/browser
if ! cmp -s tests/cluster/browser/package-lock.json $drives/package-lock.json || [ ! -d $drives/node_modules/playwright-core ]; then
  command -v npm >/dev/null || .ci/install npm
  mkdir -p $drives
  cp tests/cluster/browser/package*.json $drives/
  npm ci --prefix $drives --no-audit --no-fund --ignore-scripts >build/logs/browser.log 2>&1 || { tail -n 20 build/logs/browser.log >&2; exit 1; }
fi
if [ -z "${GPU_SCHEDULER_BIN:-}" ]; then
  make build >build/logs/ecosystem-build.log 2>&1 || { tail -n 20 build/logs/ecosystem-build.log >&2; exit 1; }
fi
exec build/cluster/bin/ecosystem.test -test.v -test.timeout 45m "$@"
