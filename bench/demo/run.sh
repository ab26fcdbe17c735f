#!/usr/bin/env bash
# The demo itself, inside a cluster that KUBECONFIG names: installs the manifests, starts the
# scheduler as they would, submits the examples and watches what becomes of them.
#
# TRANSPORT, asio unless it says cpprest, is the one that the scheduler reaches the API server by (clientConnection.transport).
# Leaves in build/demo/: its configuration, its log, its record (for `bench replay --recording`) and its kubeconfig.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=build/release/bin
out=build/demo
kubectl=build/cluster/bin/kubectl
namespace=gpu-demo
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
  token=$("$kubectl" -n gpu-scheduler create token gpu-scheduler)
  cp "$KUBECONFIG" "$out/scheduler.kubeconfig"
  "$kubectl" --kubeconfig "$out/scheduler.kubeconfig" config set-credentials gpu-scheduler \
    --token "$token" > /dev/null
  "$kubectl" --kubeconfig "$out/scheduler.kubeconfig" config set-context --current \
    --user gpu-scheduler > /dev/null
}

echo
echo "A cluster of 8 nodes: 2 with 8 × A100 and 2 with 8 × H100 (both tainted), 2 with 8 × L4, 2 without GPU."
"$kubectl" apply -k manifests/base > "$out/apply.log"
account_kubeconfig
sed "s/^clientConnection:\$/&\n  transport: $transport/" manifests/base/config.yaml > "$out/config.yaml"
grep -qx "  transport: $transport" "$out/config.yaml" || { echo "manifests/base/config.yaml has no place for the transport: no line 'clientConnection:'"; exit 1; }
"$bin/gpu-scheduler" --config "$out/config.yaml" --kubeconfig "$out/scheduler.kubeconfig" \
  --leader-elect=false --http-bind-address 127.0.0.1:0 --secure-port 0 --record "$out/record.jsonl" > "$out/scheduler.log" 2>&1 &
scheduler=$!

# Alone here, so without a lease. Ready: it has seen the whole cluster, and waited until no bind of a predecessor can land any more.
until grep -qs "scheduling begins" "$out/scheduler.log"; do
  kill -0 "$scheduler" 2>/dev/null || { tail -n 5 "$out/scheduler.log"; exit 1; }
  sleep 0.1
done
echo "gpu-scheduler runs with the configuration and the permissions of manifests/base, over the transport $transport."
echo "Submitting manifests/examples/; as it happens:"
echo
"$kubectl" create namespace "$namespace" >> "$out/apply.log"
"$kubectl" -n "$namespace" apply -f manifests/examples/ >> "$out/apply.log"
outcome=0
"$bin/bench" demo --kubeconfig "$KUBECONFIG" --namespace "$namespace" \
  --record "$out/record.jsonl" --expect bench/demo/expected.yaml || outcome=$?
stop_scheduler

echo
echo "Look next at: $out/scheduler.log (one line per decision), $out/record.jsonl (replay it with"
echo "$bin/bench replay --recording), manifests/examples/ (the pods), README.md (install it in a cluster)."
exit "$outcome"
