#!/usr/bin/env bash
# Compares bench verdicts with kube-scheduler's own plugins on clusters and pods that are drawn. Builds what is needed first.
#
#   tests/cluster/parity.sh [FLAGS…]     for example: --cases 100000 --seed 7 --foci spread,interpod; -h lists them
#
# Prints what agrees, by focus and by plugin, and exits 1 if any case differs. Those are in build/parity/, with the smallest case of each kind of
# difference. With --bench PROGRAM the repository's own is not built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
logs=build/logs
mkdir -p "$logs"
tests/cluster/build.sh
case " $* " in
  *" --bench"[\ =]* | *" -h "* | *" --help "*) ;;
  *)
    { cmake --preset release && cmake --build --preset release --target bench; } >"$logs/parity-build.log" 2>&1 ||
      { tail -n 20 "$logs/parity-build.log" >&2; exit 1; }
    ;;
esac
rm -rf build/parity
exec build/cluster/bin/parity --bench build/release/bin/bench --keep build/parity "$@"
