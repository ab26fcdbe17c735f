#!/usr/bin/env bash
# Lets the scheduler work for half an hour and judges whether it grows. Builds what is needed first.
#
#   tests/cluster/soak.sh [FLAGS…]     for example: --time 5m --rate 50; -h lists them
#
# Prints the verdicts; the plot is build/logs/soak.svg, all samples are in soak.json, and the processes' logs in
# build/cluster/soak/logs/. With --gpu-scheduler PROGRAM the repository's own is not built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
logs=build/logs
mkdir -p "$logs"
tests/cluster/build.sh
case " $* " in
  *" --gpu-scheduler"[\ =]* | *" -h "* | *" --help "*) ;;
  *) make build >"$logs/soak-build.log" 2>&1 || { tail -n 20 "$logs/soak-build.log" >&2; exit 1; } ;;
esac
exec build/cluster/bin/soak --dir build/cluster/soak --svg "$logs/soak.svg" --json "$logs/soak.json" "$@"
