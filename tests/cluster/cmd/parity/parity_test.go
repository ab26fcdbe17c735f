package main

import (
	"os"
	"testing"

	"gpu-scheduler.io/tests/cluster/parity"
	"gpu-scheduler.io/tests/cluster/parity/draw"
)

// The short run of `make test`. BENCH_BIN is the program under test; what differs is kept in the folder PARITY_DIR.
func TestAgreesWithKubeScheduler(t *testing.T) {
	if os.Getenv("GPU_SCHEDULER_IDENTITY") != "" {
		t.Skip("another scheduler is tested")
	}
	bench := os.Getenv("BENCH_BIN")
	if _, err := os.Stat(bench); err != nil {
		t.Fatalf("BENCH_BIN is no program: %v", err)
	}
	const cases = 4000
	agreement, differ, err := run(t.Context(), settings{cases: cases, seed: 1, foci: draw.Foci, workers: 2, bench: bench, keep: os.Getenv("PARITY_DIR"), scores: true})
	if err != nil {
		t.Fatal(err)
	}
	if differ > 0 {
		t.Errorf("%d cases differ", differ)
	}
	wantCompared(t, agreement, cases)
}

// wantCompared fails the test if something was left out. The program under test itself says which cases differ; what it does not compare, or answers
// otherwise without saying so, counts as left out.
func wantCompared(t *testing.T, a *parity.Agreement, cases int) {
	t.Helper()
	total := a.Total()
	if compared := total.Agree + total.Differ; compared < cases*9/10 {
		t.Errorf("only %d of %d cases are compared", compared, cases)
	}
	counts := map[string]parity.Count{"cases": total, "messages": a.Messages, "evictions": a.Evicts}
	for plugin, count := range a.Verdicts {
		counts["verdicts of "+plugin] = count
	}
	for what, count := range counts {
		if count.LeftOut > 0 || count.Agree == 0 {
			t.Errorf("%s: %d agree, %d are left out", what, count.Agree, count.LeftOut)
		}
	}
	if len(a.Scores) == 0 {
		t.Error("no scores are compared")
	}
	for plugin, count := range a.Scores {
		// Of NodeResourcesFit some are not compared: README.md of package parity.
		if count.LeftOut > 0 && plugin != "NodeResourcesFit" || count.Agree == 0 {
			t.Errorf("scores of %s: %d agree, %d are left out", plugin, count.Agree, count.LeftOut)
		}
	}
}
