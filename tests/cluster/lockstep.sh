#!/usr/bin/env bash
# Has kube-scheduler and gpu-scheduler decide about the same pods, one after the other, live and side by side. Builds what is needed first.
#
#   tests/cluster/lockstep.sh [FLAGS…]     for example: --pods 10000 --seed 7; -h lists them
#
# Prints figures, and exits 1 if any answer differs. Each difference is kept in build/lockstep/ as a case for bench verdicts, and what happened before it in
# steps.log there. With --gpu-scheduler PROGRAM the repository's own is not built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
logs=build/logs
mkdir -p "$logs"
tests/cluster/build.sh
case " $* " in
  *" --gpu-scheduler"[\ =]* | *" -h "* | *" --help "*) ;;
  *)
    { cmake --preset release && cmake --build --preset release --target gpu-scheduler; } >"$logs/lockstep-build.log" 2>&1 ||
      { tail -n 20 "$logs/lockstep-build.log" >&2; exit 1; }
    ;;
esac
rm -rf build/lockstep
exec build/cluster/bin/lockstep --dir build/cluster/lockstep --keep build/lockstep "$@"
