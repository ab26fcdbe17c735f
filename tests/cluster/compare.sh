#!/usr/bin/env bash
# Measures gpu-scheduler beside kube-scheduler on one API server. Builds what is needed first.
#
#   tests/cluster/compare.sh [FLAGS…]          for example: --nodes 1000 --pods 3000 --repeat 3; -h lists them
#   tests/cluster/compare.sh series [FLAGS…]   everything: rates, latencies, start on a full cluster, takeover
#
# Prints the table, which stays in build/logs/compare.txt with all figures in compare.json; how it goes along is in compare.log,
# the processes' logs in build/cluster/compare/logs/. With --gpu-scheduler PROGRAM, or an --order without it, the repository's own is
# not built. Nothing else should run on the machine meanwhile: what others took is in the table's last column.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# builds_ours FLAGS…: do they leave our scheduler in, and do they leave it to us which one?
builds_ours() {
  local flags=" $* "
  case $flags in *" --gpu-scheduler"[\ =]* | *" -gpu-scheduler"[\ =]* | *" -h "* | *" --help "*) return 1 ;; esac
  case $flags in *" --order"[\ =]* | *" -order"[\ =]*) case $flags in *gpu-scheduler*) ;; *) return 1 ;; esac ;; esac
}

logs=build/logs
mkdir -p "$logs"
tests/cluster/build.sh
if builds_ours "$@" && ! make build >"$logs/compare-build.log" 2>&1; then
  tail -n 20 "$logs/compare-build.log" >&2
  echo "compare: make build failed (see $logs/compare-build.log)" >&2
  exit 1
fi
case " $* " in *" -h "* | *" --help "*) exec build/cluster/bin/compare -h ;; esac
what=(build/cluster/bin/compare)
if [ "${1:-}" = series ]; then what+=(series); shift; fi
# How it goes along is for a person at a terminal, too.
if ! "${what[@]}" --dir build/cluster/compare --json "$logs/compare.json" "$@" 2> >(tee "$logs/compare.log" >&2) | tee "$logs/compare.txt"; then
  tail -n 20 "$logs/compare.log" >&2
  exit 1
fi
