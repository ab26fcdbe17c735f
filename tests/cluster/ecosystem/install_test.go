package ecosystem

import (
	"fmt"
	"path/filepath"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// TestHelmInstallsAndKeepsQuotas: install, upgrade, rollback and uninstall on a real API server, and installed anew over what was kept.
func TestHelmInstallsAndKeepsQuotas(t *testing.T) {
	p := newPlane(t)
	p.kubectl("create", "-f", filepath.Join(root, "manifests/base/namespace.yaml"))
	p.helm("install", "gpu-scheduler", chart)
	p.wantReplicas(2)
	p.addQuota()
	p.helm("upgrade", "gpu-scheduler", chart, "--set", "replicas=3")
	p.wantReplicas(3)
	p.helm("rollback", "gpu-scheduler", "1")
	p.wantReplicas(2)
	p.helm("uninstall", "gpu-scheduler")
	p.wantQuota()
	p.helm("install", "gpu-scheduler", chart)
	p.wantReplicas(2)
	p.wantQuota()
}

// plane is a control plane of a test's own.
type plane struct {
	t       *testing.T
	cluster *controlplane.ControlPlane
}

func newPlane(t *testing.T) *plane {
	t.Helper()
	cluster, err := controlplane.Start(t.Context(), controlplane.Options{Dir: t.TempDir(), Bin: bin})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &plane{t: t, cluster: cluster}
}

func (p *plane) kubectl(args ...string) {
	p.t.Helper()
	mustRun(p.t, "kubectl", append([]string{"--kubeconfig", p.cluster.Kubeconfig()}, args...)...)
}

func (p *plane) helm(args ...string) {
	p.t.Helper()
	mustRun(p.t, "helm", append([]string{"--kubeconfig", p.cluster.Kubeconfig(), "--namespace", namespace}, args...)...)
}

func (p *plane) wantReplicas(want int32) {
	p.t.Helper()
	deployment, err := p.cluster.Client().AppsV1().Deployments(namespace).Get(p.t.Context(), "gpu-scheduler", metav1.GetOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	if got := *deployment.Spec.Replicas; got != want {
		p.t.Fatalf("the Deployment has %d replicas, want %d", got, want)
	}
}

var quotaResource = schema.GroupVersionResource{Group: "gpu-scheduler.io", Version: "v1alpha1", Resource: "gpuquotas"}

// addQuota waits for the definition, which was just applied, and makes a quota.
func (p *plane) addQuota() {
	p.t.Helper()
	p.kubectl("wait", "--for=condition=Established", "crd/gpuquotas.gpu-scheduler.io", "--timeout=60s")
	p.kubectl("apply", "-f", filepath.Join(root, "manifests/examples/quota/one-team.yaml"))
	p.wantQuota()
}

func (p *plane) wantQuota() {
	p.t.Helper()
	client, err := dynamic.NewForConfig(p.cluster.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	quota, err := client.Resource(quotaResource).Get(p.t.Context(), "team-vision", metav1.GetOptions{})
	if err == nil && quota.GetDeletionTimestamp() != nil {
		err = fmt.Errorf("it is being deleted")
	}
	if err != nil {
		p.t.Fatalf("the quota: %v", err)
	}
}
