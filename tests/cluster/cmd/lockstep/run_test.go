package main

import (
	"os"
	"path/filepath"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/lockstep"
)

// The short run of `make test`; that of `make test-full` has ten times the pods. GPU_SCHEDULER_BIN is the program; what differs is kept in the folder LOCKSTEP_DIR.
func TestDecidesAsKubeScheduler(t *testing.T) {
	if os.Getenv("GPU_SCHEDULER_IDENTITY") != "" {
		t.Skip("another scheduler is tested")
	}
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	program := os.Getenv("GPU_SCHEDULER_BIN")
	if program == "" {
		program = filepath.Join(root, "build/release/bin/gpu-scheduler")
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("no scheduler to test: %v", err)
	}
	keep := os.Getenv("LOCKSTEP_DIR")
	if keep == "" {
		keep = t.TempDir()
	}
	pods := 60
	if os.Getenv("E2E_FULL") == "1" {
		pods = 600
	}
	figures, err := run(t.Context(), lockstep.Settings{Pods: pods, Seed: 7, Nodes: 8, Most: 3, Scheduler: program,
		Policy: filepath.Join(root, "manifests/policies/kube-scheduler.yaml"), Manifests: filepath.Join(root, "manifests/base"),
		Dir: t.TempDir(), Keep: keep, Out: os.Stdout})
	if err != nil {
		t.Fatal(err)
	}
	if err := figures.Err(); err != nil {
		t.Error(err)
	}
	if figures.Placed == 0 || figures.Ties == 0 || figures.Waiting == 0 || figures.Started == 0 {
		t.Errorf("something was not met: %v", figures)
	}
}
