#!/usr/bin/env bash
# Measures what it costs to look at a large cluster: kubectl gpu with the scheduler down and up, and the page.
#
#   tests/cluster/views.sh [FLAGS…]     flags of cmd/views; without any 5,000 nodes, 40,000 pods that run, 20,000 that wait, 300 quotas
#
# Prints the table, which stays in build/logs/views.txt with all figures in views.json; how it goes along is in views.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
logs=build/logs
mkdir -p "$logs"
tests/cluster/build.sh
if ! make build >"$logs/views-build.log" 2>&1; then
  tail -n 20 "$logs/views-build.log" >&2
  echo "views: make build failed (see $logs/views-build.log)" >&2
  exit 1
fi
rm -rf build/cluster/views
build/cluster/bin/views --dir build/cluster/views --json "$logs/views.json" "$@" 2> >(tee "$logs/views.log" >&2) | tee "$logs/views.txt"
