#!/usr/bin/env bash
# Records a live run with quotas and MIG on a real API server: quotas-and-mig.jsonl.gz. Recordings stay as they are while engines change
# (what is compared are two builds' decisions, not those in the file); a new one is for what is watched anew.
#
#   bench/sameness/recordings/record.sh [SECONDS]      needs build/cluster/bin (tests/cluster/build.sh) and GPU_SCHEDULER_BIN or a release build
set -euo pipefail
here=bench/sameness/recordings
cd "$(dirname "$0")/../../.."
out=$PWD/build/sameness/live
if [ "${1:-}" != inside ]; then
  rm -rf "$out"
  mkdir -p "$out"
  python3 $here/nodes.py > "$out/nodes.yaml"
  build/cluster/bin/testcluster run --dir "$out/cluster" --kwok --nodes "$out/nodes.yaml" -- $here/record.sh inside "${1:-60}"
  gzip -9 -n < "$out/record.jsonl" > $here/quotas-and-mig.jsonl.gz
  exit
fi

kubectl=$PWD/build/cluster/bin/kubectl
"$kubectl" apply -k manifests/base > "$out/apply.log"
sed 's/^  holdAfter: .*/  holdAfter: 5s/' manifests/base/config.yaml > "$out/config.yaml"
"${GPU_SCHEDULER_BIN:-build/release/bin/gpu-scheduler}" --config "$out/config.yaml" --kubeconfig "$KUBECONFIG" --leader-elect=false \
  --http-bind-address 127.0.0.1:0 --secure-port 0 --record "$out/record.jsonl" > "$out/scheduler.log" 2>&1 &
scheduler=$!
trap 'kill -TERM $scheduler; wait $scheduler || true' EXIT
until grep -qs "scheduling begins" "$out/scheduler.log"; do
  kill -0 $scheduler || { tail -n 5 "$out/scheduler.log"; exit 1; }
  sleep 0.2
done
python3 -B $here/life.py "$kubectl" "$2"
