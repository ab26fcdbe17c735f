#!/usr/bin/env bash
# Tries an upgrade from another commit of this repository, and the way back: replicas of both beside each other on a real API server, and the files of one read by the other.
#
#   tests/cluster/upgrade.sh COMMIT [GO TEST FLAGS…]
#
# GPU_SCHEDULER_BIN is the scheduler to try; without it the release is built. The other commit is built as that commit builds its release, in build/base.
. "$(dirname "$0")/../../.ci/stages.sh"
commit=${1:?the commit to upgrade from}
shift

base() { .ci/base "$commit" gpu-scheduler; }
run() { GPU_SCHEDULER_OTHER=$(realpath "$(tail -n 1 build/logs/base.log)/../../..") tests/cluster/test.sh -test.run '^TestUpgrade' "$@"; }

stage base "build the other commit's scheduler" base || finish
if [ -z "${GPU_SCHEDULER_BIN:-}" ]; then stage release "build the scheduler" make build || finish; fi
stage cluster "build the tests" tests/cluster/build.sh || finish
tests upgrade "upgrade and roll back" run "$@"
finish
