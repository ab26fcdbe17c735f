package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"gpu-scheduler.io/tests/cluster/controlplane"
)

const (
	floorName        = "floor"
	gpuSchedulerName = "gpu-scheduler"
)

// subject is one of those that are compared.
type subject struct {
	name      string // in the table
	scheduler string // schedulerName of its pods
	events    bool   // it tells about each bind
	lease     string // that its replicas elect a leader by: namespace/name; "": it has no replicas
	start     func(ctx context.Context, b *bench, namespace string) (*controlplane.Process, error)
}

// subjects by their names in --order. The floor is two.
var subjects = map[string][]subject{
	"gpu-scheduler":  {{gpuSchedulerName, gpuSchedulerName, true, "gpu-scheduler/gpu-scheduler", startGPUScheduler}},
	"kube-scheduler": {{"kube-scheduler", "default-scheduler", true, "kube-system/kube-scheduler", startKubeScheduler}},
	floorName: {
		{"floor: binds", floorName, false, "", startFloor()},
		{"floor: binds, events", floorName, true, "", startFloor("--events")},
	},
}

// startGPUScheduler starts it with the configuration of its manifests, as the service account that they deploy it with. Neither it nor
// kube-scheduler elects a leader, but for --takeover and --lease.
func startGPUScheduler(_ context.Context, b *bench, _ string) (*controlplane.Process, error) {
	kubeconfig, err := b.cluster.KubeconfigFor(b.account)
	if err != nil {
		return nil, err
	}
	return b.cluster.StartChild("gpu-scheduler", nil, b.settings.scheduler,
		"--config", b.config, "--kubeconfig", kubeconfig, "--http-bind-address=0",
		fmt.Sprintf("--leader-elect=%v", b.settings.Takeover || b.settings.Lease))
}

// startKubeScheduler starts it with its default profile, as system:kube-scheduler.
func startKubeScheduler(ctx context.Context, b *bench, _ string) (*controlplane.Process, error) {
	return b.cluster.StartKubeScheduler(ctx, controlplane.SchedulerOptions{
		QPS: b.settings.QPS, Burst: b.settings.Burst, LeaderElect: b.settings.Takeover})
}

// startFloor starts ourselves as the floor, under kube-scheduler's identity: it may bind and post events, and has its flow control.
func startFloor(args ...string) func(context.Context, *bench, string) (*controlplane.Process, error) {
	return func(_ context.Context, b *bench, namespace string) (*controlplane.Process, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		kubeconfig, err := b.cluster.KubeconfigFor(controlplane.KubeScheduler)
		if err != nil {
			return nil, err
		}
		return b.cluster.StartChild("floor", nil, self, append([]string{floorCommand, "--kubeconfig", kubeconfig,
			"--namespace", namespace, "--connections", strconv.Itoa(b.settings.Floor)}, args...)...)
	}
}

// prepareGPUScheduler finds the program, applies its manifests, and writes its configuration with our rates.
func (b *bench) prepareGPUScheduler(ctx context.Context) error {
	root, err := controlplane.RepositoryRoot()
	if err != nil && (b.settings.scheduler == "" || b.settings.kustomized == "") {
		return err
	}
	if b.settings.scheduler == "" {
		b.settings.scheduler = filepath.Join(root, "build/release/bin/gpu-scheduler")
	}
	if b.settings.kustomized == "" {
		b.settings.kustomized = filepath.Join(root, "manifests/base")
	}
	if _, err := os.Stat(b.settings.scheduler); err != nil {
		return fmt.Errorf("no gpu-scheduler: %w (build it, name it with --gpu-scheduler, or leave it out of --order)", err)
	}
	if b.account, err = b.cluster.ApplyScheduler(ctx, b.settings.kustomized); err != nil {
		return err
	}
	original, err := os.ReadFile(filepath.Join(b.settings.kustomized, "config.yaml"))
	if err != nil {
		return err
	}
	content, err := withRates(original, b.settings.QPS, b.settings.Burst)
	if err != nil {
		return err
	}
	b.config = filepath.Join(b.cluster.Dir(), "gpu-scheduler.yaml")
	return os.WriteFile(b.config, content, 0o600)
}
