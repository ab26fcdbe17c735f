package ecosystem

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// What uninstalling leaves on the API server, of what was installed and of what the scheduler has written. The objects of all kinds are listed
// before the installation and after, so that an object that is added some day is not forgotten.

// leftAlways is what every way to uninstall leaves, and why.
var leftAlways = map[string]string{
	"pods vision/one-gpu": "pods that are running stay",
	"events.events.k8s.io vision: Scheduled of Pod one-gpu": "the API server deletes events itself, after an hour",
}

// leftWithQuotas is what stays, in addition, where quotas are kept.
var leftWithQuotas = map[string]string{
	"customresourcedefinitions.apiextensions.k8s.io gpuquotas.gpu-scheduler.io": "deleting it would delete all quotas",
	"apiservices.apiregistration.k8s.io v1alpha1.gpu-scheduler.io":              "the API server makes it for the definition",
	"gpuquotas.gpu-scheduler.io team-vision":                                    "it is the user's",
}

// leftByHelm is what stays, in addition, after helm uninstall.
var leftByHelm = map[string]string{
	"namespaces gpu-scheduler":                               "the user made it, before there was a release",
	"leases.coordination.k8s.io gpu-scheduler/gpu-scheduler": "the scheduler made it, so Helm does not know it; the next installation takes it",
	"configmaps gpu-scheduler/gpu-scheduler-quotas":          "so did it this one; it remembers which quotas there were",
}

// TestHelmUninstalls: after helm uninstall there is what was there before the installation, and what is said above.
func TestHelmUninstalls(t *testing.T) {
	p, before := newPlaneToInstall(t)
	p.kubectl("create", "-f", filepath.Join(root, "manifests/base/namespace.yaml"))
	p.helm("install", "gpu-scheduler", chart, "--set", "answers=true,ui=true,admission=true,defaultSpread=true,preemption=true,metrics.dashboards=true")
	p.addQuota()
	process := p.leadAndPlace()
	p.helm("uninstall", "gpu-scheduler")
	p.endAfterUninstall(process)
	p.wantLeft(before, leftAlways, leftWithQuotas, leftByHelm)
	p.wantQuota()
}

// TestKubectlDeletesAllButQuotas: as docs/install.md deletes it. The namespace is deleted with what the scheduler wrote there.
func TestKubectlDeletesAllButQuotas(t *testing.T) {
	p, before := newPlaneToInstall(t)
	base := filepath.Join(root, "manifests/base")
	p.kubectl("apply", "-k", base)
	p.addQuota()
	process := p.leadAndPlace()
	// The command waits until the namespace is gone. The scheduler's pods are deleted before that: without its lease the scheduler would end by itself.
	p.kubectl("delete", "-k", base, "-l", "app.kubernetes.io/component!=quota", "--wait=false")
	p.endAfterUninstall(process)
	p.wantLeftOfBase(quotaDefinition)
	p.wantLeft(before, leftAlways, leftWithQuotas)
	p.wantQuota()
	// Without the selector it takes the quotas, too.
	p.kubectl("delete", "-k", base, "--ignore-not-found")
	p.wantLeft(before, leftAlways)
}

// newPlaneToInstall has Kubernetes' controllers, a node of eight GPUs, and the namespace that the quota of addQuota selects. It returns what is there.
func newPlaneToInstall(t *testing.T) (p *plane, before map[string]bool) {
	t.Helper()
	p = newPlane(t)
	p.startControllers()
	p.addNodes(taintedGPUs("gpu-0", fixture.H100))
	p.kubectl("create", "namespace", "vision")
	return p, p.mustHaveEverything()
}

// leadAndPlace starts the scheduler as it was installed: its account, its configuration and its lease. It returns when the scheduler has led, has placed a GPU pod
// that is charged to the quota of addQuota, has noted which quotas there are, and has said so: when all that it writes is there.
func (p *plane) leadAndPlace() *controlplane.Process {
	p.t.Helper()
	kubeconfig, err := p.cluster.KubeconfigFor(controlplane.ServiceAccount(namespace, "gpu-scheduler"))
	if err != nil {
		p.t.Fatal(err)
	}
	process, err := p.cluster.StartChild("gpu-scheduler", nil, scheduler(), "--config", filepath.Join(root, "manifests/base/config.yaml"),
		"--kubeconfig", kubeconfig, "--http-bind-address=127.0.0.1:0", "--secure-port=0")
	if err != nil {
		p.t.Fatal(err)
	}
	p.kubectl("apply", "-n", "vision", "-f", example("01-one-gpu.yaml"))
	p.waitRunning("vision", "", 1, "gpu-0")
	client := p.cluster.Client()
	p.eventually("the scheduler has written all that it writes", func() (bool, string) {
		lease, err := client.CoordinationV1().Leases(namespace).Get(p.t.Context(), "gpu-scheduler", metav1.GetOptions{})
		if err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return false, fmt.Sprintf("nothing holds the lease: %v", err)
		}
		remembered, err := client.CoreV1().ConfigMaps(namespace).Get(p.t.Context(), "gpu-scheduler-quotas", metav1.GetOptions{})
		if err != nil || !strings.Contains(fmt.Sprint(remembered.Data), "team-vision") {
			return false, fmt.Sprintf("gpu-scheduler-quotas has not team-vision: %v", err)
		}
		used, _, _ := unstructured.NestedString(p.object("gpu-scheduler.io", "v1alpha1", "gpuquotas", "", "team-vision").Object, "status", "total", "used")
		events, err := p.ownEvents()
		return used == "1" && events["events.events.k8s.io vision: Scheduled of Pod one-gpu"], fmt.Sprintf("used %q, events %v %v", used, events, err)
	})
	return process
}

// endAfterUninstall ends the scheduler, as a kubelet does after its pod was deleted. It has no rights any more, so what it writes at the end does not count.
func (p *plane) endAfterUninstall(process *controlplane.Process) {
	p.t.Helper()
	if !process.Running() {
		p.t.Errorf("the scheduler ended by itself: %v\n%s", process.Wait(), lastLines(process.Log))
	}
	if err := process.Stop(); err != nil {
		p.t.Error(err)
	}
}

// wantLeft waits until exactly what is on the lists is there, beside what was there before.
func (p *plane) wantLeft(before map[string]bool, lists ...map[string]string) {
	p.t.Helper()
	var left []string
	for _, list := range lists {
		left = slices.AppendSeq(left, maps.Keys(list))
	}
	p.wantChanged(before, left, nil)
}

// wantChanged waits until exactly these objects have come, and these gone. Garbage collection takes a moment.
func (p *plane) wantChanged(before map[string]bool, come, gone []string) {
	p.t.Helper()
	want := maps.Clone(before)
	for _, object := range come {
		want[object] = true
	}
	for _, object := range gone {
		delete(want, object)
	}
	p.eventually("exactly the objects that should be there are", func() (bool, string) {
		got, err := p.everything()
		var wrong []string
		for object := range got {
			if !want[object] {
				wrong = append(wrong, "is there: "+object)
			}
		}
		for object := range want {
			if !got[object] {
				wrong = append(wrong, "is gone: "+object)
			}
		}
		slices.Sort(wrong)
		return err == nil && len(wrong) == 0, fmt.Sprintf("%v\n%s", err, strings.Join(wrong, "\n"))
	})
}

// mustHaveEverything is everything where a failure ends the test.
func (p *plane) mustHaveEverything() map[string]bool {
	p.t.Helper()
	all, err := p.everything()
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// everything lists the objects of all kinds that the API server serves: RESOURCE.GROUP NAMESPACE/NAME. Of events it has those of gpu-scheduler: others are of
// Kubernetes' own controllers.
func (p *plane) everything() (map[string]bool, error) {
	config := p.cluster.Config()
	config.WarningHandler = rest.NoWarnings{} // of kinds that are deprecated: they are listed all the same
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	all, err := p.ownEvents()
	if err != nil {
		return nil, err
	}
	for _, group := range served {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || kind.Kind == "Event" {
				continue
			}
			resource := version.WithResource(kind.Name)
			list, err := client.Resource(resource).List(p.t.Context(), metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", resource, err)
			}
			for _, object := range list.Items {
				all[resource.GroupResource().String()+" "+strings.TrimPrefix(object.Namespace+"/"+object.Name, "/")] = true
			}
		}
	}
	return all, nil
}

// ownEvents are those of gpu-scheduler, without their names, which differ each time.
func (p *plane) ownEvents() (map[string]bool, error) {
	list, err := p.cluster.Client().EventsV1().Events("").List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	events := map[string]bool{}
	for _, event := range list.Items {
		if event.ReportingController == "gpu-scheduler" {
			events[fmt.Sprintf("events.events.k8s.io %s: %s of %s %s", event.Namespace, event.Reason, event.Regarding.Kind, event.Regarding.Name)] = true
		}
	}
	return events, nil
}

// quotaDefinition is what is left of manifests/base where quotas are kept, as kubectl names it.
const quotaDefinition = "customresourcedefinition.apiextensions.k8s.io/gpuquotas.gpu-scheduler.io"

// wantLeftOfBase waits until this is what the cluster has of the objects of manifests/base; empty: none.
func (p *plane) wantLeftOfBase(want string) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("of manifests/base %q is left", want), func() (bool, string) {
		left, err := run(p.t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "get", "-k", filepath.Join(root, "manifests/base"), "--ignore-not-found", "-o", "name")
		return err == nil && strings.TrimSpace(left) == want, fmt.Sprintf("%s %v", left, err)
	})
}
