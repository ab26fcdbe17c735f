#!/usr/bin/env bash
# The demo itself, inside a cluster that KUBECONFIG names: installs the manifests, starts the
# scheduler as they would, submits the examples and watches what becomes of them.
#
# TRANSPORT, asio unless it says cpprest, is the one that the scheduler reaches the API server by (clientConnection.transport).
# BIN names another folder of binaries. Needs a kubectl on PATH. Leaves in build/demo/: the last configuration, its log, the records (for
# `bench replay --recording`) and the kubeconfig.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${BIN:-build/quick/bin}
out=build/demo
transport=${TRANSPORT:-asio}

scheduler=""
stop_scheduler() {
  [ -n "$scheduler" ] || return 0
  kill -TERM "$scheduler" 2>/dev/null || true
  wait "$scheduler" 2>/dev/null || true
  scheduler=""
}
trap stop_scheduler EXIT

# The scheduler runs under the service account of the manifests, with just their permissions.
account_kubeconfig() {
  local token
  token=$(kubectl -n gpu-scheduler create token gpu-scheduler)
  cp "$KUBECONFIG" "$out/scheduler.kubeconfig"
  kubectl --kubeconfig "$out/scheduler.kubeconfig" config set-credentials gpu-scheduler \
    --token "$token" > /dev/null
  kubectl --kubeconfig "$out/scheduler.kubeconfig" config set-context --current \
    --user gpu-scheduler > /dev/null
}

# A configuration for this run: over the chosen transport.
configure() {
  if grep -qx "clientConnection:" "$1"; then
    sed "s/^clientConnection:\$/&\n  transport: $transport/" "$1" > "$out/config.yaml"
  else
    { cat "$1"; printf 'clientConnection:\n  transport: %s\n' "$transport"; } > "$out/config.yaml"
  fi
}

# Alone here, so without a lease. Ready: it has seen the whole cluster, and waited until no bind of a predecessor can land any more.
start_scheduler() {
  configure "$1"
  "$bin/gpu-scheduler" --config "$out/config.yaml" --kubeconfig "$out/scheduler.kubeconfig" \
    --leader-elect=false --http-bind-address 127.0.0.1:0 --secure-port 0 --record "$out/record.jsonl" > "$out/scheduler.log" 2>&1 &
  scheduler=$!
  until grep -qs "scheduling begins" "$out/scheduler.log"; do
    kill -0 "$scheduler" 2>/dev/null || { tail -n 5 "$out/scheduler.log"; exit 1; }
    sleep 0.1
  done
}

# Submits the pods and checks what becomes of them: show NAMESPACE PODS EXPECTED.
outcome=0
show() {
  echo
  kubectl create namespace "$1" >> "$out/apply.log"
  kubectl -n "$1" apply -f "$2" >> "$out/apply.log"
  "$bin/bench-demo" --kubeconfig "$KUBECONFIG" --namespace "$1" --record "$out/record.jsonl" --expect "$3" || outcome=$?
}

echo
echo "A cluster of 8 nodes: 2 with 8 × A100 and 2 with 8 × H100 (both tainted), 2 with 8 × L4, 2 without GPU."
kubectl apply -k manifests/base > "$out/apply.log"
account_kubeconfig
start_scheduler manifests/base/config.yaml
echo "gpu-scheduler runs with the configuration and the permissions of manifests/base, over the transport $transport."
echo "Submitting manifests/examples/; as it happens:"
show gpu-demo manifests/examples/ bench/demo/expected.yaml

echo
echo "Two nodes more: one with 2 × A100 partitioned into MIG instances, one with an L4 that pods share. Submitting manifests/examples/gpus/:"
kubectl apply -f bench/demo/gpus/nodes.yaml >> "$out/apply.log"
show gpu-demo-gpus manifests/examples/gpus/ bench/demo/gpus/expected.yaml
stop_scheduler

echo
echo "Two pools of two nodes, each with a profile of its own. Submitting manifests/examples/two-pools/pods.yaml:"
kubectl apply -f bench/demo/two-pools/nodes.yaml >> "$out/apply.log"
kubectl patch validatingadmissionpolicy gpu-scheduler-pod-status --type json \
  --patch-file manifests/examples/two-pools/policy-patch.yaml >> "$out/apply.log"
mv "$out/record.jsonl" "$out/record-1.jsonl"
start_scheduler manifests/examples/two-pools/config.yaml
show gpu-demo-two-pools manifests/examples/two-pools/pods.yaml bench/demo/two-pools/expected.yaml
stop_scheduler

echo
echo "Look next at: $out/scheduler.log (one line per decision), $out/record.jsonl (make build, then replay it with"
echo "build/release/bin/bench replay --recording), manifests/examples/ (the pods), README.md (install it in a cluster)."
exit "$outcome"
