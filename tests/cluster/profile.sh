#!/usr/bin/env bash
# Takes apart what a pod costs that is bound: the scheduler's, the API server's and etcd's processor time, the requests for it, its waits.
#
#   tests/cluster/profile.sh [FLAGS…]     flags of compare.sh; without any 3,000 pods come to 1,000 nodes at 160 a second
#
# Prints the tables, which stay in build/logs/profile.txt; what they are made of is in build/profile. Needs perf on PATH for the scheduler's
# own part. The measuring takes time of its own: compare parts with each other, not these figures with others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf build/profile
tests/cluster/compare.sh --nodes 1000 --pods 3000 --open-loop 160 --repeat 1 --profile build/profile "$@"
# Where there was no Go, build.sh has left one.
PATH=$PATH:$PWD/build/go-venv/bin bench/live/profile.py build/profile | tee build/logs/profile.txt
