#!/usr/bin/env bash
# The tests on a real API server, with other versions of Kubernetes than the one that make test takes.
#
#   tests/cluster/versions.sh [MINOR…] [-- GO TEST FLAGS…]      for example: 1.35 -- -test.run Quota
#
# Each folder of tests/cluster/kubernetes is a version, with its modules pinned. Without MINOR all of them run, one after the other: five minutes to build
# each at first, and as long for its tests. GPU_SCHEDULER_BIN is the scheduler to try; without it the release is built. Output is in build/logs/kubernetes-MINOR.log.
#
# The comparison with kube-scheduler, pod by pod, is left out: gpu-scheduler has the rules and scores of the version that make test takes. `-- -test.run
# DecidesAsKubeScheduler` shows what differs.
. "$(dirname "$0")/../../.ci/stages.sh"
versions=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  [ -d "tests/cluster/kubernetes/$1" ] || { echo "versions: there is no $1; there are $(ls -m tests/cluster/kubernetes)" >&2; exit 2; }
  versions+=("$1")
  shift
done
[ $# = 0 ] || shift
[ ${#versions[@]} -gt 0 ] || mapfile -t versions < <(ls tests/cluster/kubernetes)

build() {
  tests/cluster/build.sh --kubernetes "$1" && ln -sf ../bin/kwok ../bin/kwok-stages.yaml "build/cluster/kubernetes-$1/"
}
run() {
  local minor=$1
  shift
  [ $# -gt 0 ] || set -- -test.skip '^TestDecidesAsKubeScheduler$'
  GPU_SCHEDULER_CLUSTER_BIN=$PWD/build/cluster/kubernetes-$minor E2E_DIR=$PWD/build/cluster/e2e-$minor tests/cluster/test.sh "$@"
}

stage cluster "build the tests" tests/cluster/build.sh || finish
if [ -z "${GPU_SCHEDULER_BIN:-}" ]; then stage release "build the scheduler" make build || finish; fi
for minor in "${versions[@]}"; do
  stage "build-$minor" "build Kubernetes $minor" build "$minor" || continue
  tests "kubernetes-$minor" "tests against it" run "$minor" "$@"
done
finish
