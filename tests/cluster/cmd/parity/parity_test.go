package main

import (
	"os"
	"testing"

	"gpu-scheduler.io/tests/cluster/parity/draw"
)

// The short run of `make test`. BENCH_BIN is the program under test; what differs is kept in the folder PARITY_DIR.
func TestAgreesWithKubeScheduler(t *testing.T) {
	bench := os.Getenv("BENCH_BIN")
	if _, err := os.Stat(bench); err != nil {
		t.Skipf("BENCH_BIN is no program: %v", err)
	}
	differ, err := run(t.Context(), settings{cases: 4000, seed: 1, foci: draw.Foci, workers: 2, bench: bench, keep: os.Getenv("PARITY_DIR"), scores: true})
	if err != nil {
		t.Fatal(err)
	}
	if differ > 0 {
		t.Errorf("%d cases differ", differ)
	}
}
