package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gpu-scheduler.io/tests/cluster/controlplane"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	return b.cluster.StartChild("gpu-scheduler", nil, b.settings.scheduler,
		"--config", b.config, "--kubeconfig", b.account, "--http-bind-address=0", "--secure-port=0",
		fmt.Sprintf("--leader-elect=%v", b.settings.Takeover || b.settings.Lease))
}

// startKubeScheduler starts it with its default profile, as system:kube-scheduler.
func startKubeScheduler(ctx context.Context, b *bench, _ string) (*controlplane.Process, error) {
	return b.cluster.StartKubeScheduler(ctx, controlplane.SchedulerOptions{
		QPS: b.settings.QPS, Burst: b.settings.Burst, LeaderElect: b.settings.Takeover})
}

// startFloor starts ourselves as the floor, which binds the namespace's pods that are there, or with --open-loop those that come.
func startFloor(args ...string) func(context.Context, *bench, string) (*controlplane.Process, error) {
	return func(_ context.Context, b *bench, namespace string) (*controlplane.Process, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		line := []string{floorCommand, "--kubeconfig", b.floor, "--namespace", namespace, "--connections", strconv.Itoa(b.settings.Floor),
			fmt.Sprintf("--watch=%v", b.settings.OpenLoop > 0)}
		return b.cluster.StartChild("floor", nil, self, append(line, args...)...)
	}
}

// prepareFloor makes the floor an account that may do what kube-scheduler may, with a token like gpu-scheduler's. In kube-system, accounts
// have kube-scheduler's flow control.
func (b *bench) prepareFloor(ctx context.Context) (err error) {
	account := controlplane.ServiceAccount(metav1.NamespaceSystem, floorName)
	if b.floor, err = b.tokenOf(ctx, account); err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: floorName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: controlplane.KubeScheduler.User},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: floorName}},
	}
	_, err = b.client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// tokenOf writes a kubeconfig with a token of a service account, such as it has in a pod. The API server verifies the certificate of a client
// at each request, and remembers a token for some seconds.
func (b *bench) tokenOf(ctx context.Context, account controlplane.Identity) (string, error) {
	namespace, name, _ := strings.Cut(strings.TrimPrefix(account.User, "system:serviceaccount:"), ":")
	return b.cluster.TokenKubeconfig(ctx, namespace, name)
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
	account, err := b.cluster.ApplyScheduler(ctx, b.settings.kustomized)
	if err != nil {
		return err
	}
	if b.account, err = b.tokenOf(ctx, account); err != nil {
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
