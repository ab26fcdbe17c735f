package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// TestHelmTakesOverFromKustomize: Helm refuses what kustomize has made, unless it is told to take that over. Then it is the release's, and quotas stay.
func TestHelmTakesOverFromKustomize(t *testing.T) {
	p := newPlane(t)
	p.kubectl("apply", "-k", filepath.Join(root, "manifests/base"))
	p.addQuota()
	_, err := run(t, "helm", "--kubeconfig", p.cluster.Kubeconfig(), "--namespace", namespace, "install", "gpu-scheduler", chart)
	if err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
		t.Errorf("without --take-ownership: %v", err)
	}
	p.helm("install", "gpu-scheduler", chart, "--take-ownership", "--set", "replicas=3")
	p.wantReplicas(3)
	deployment, err := p.cluster.Client().AppsV1().Deployments(namespace).Get(t.Context(), "gpu-scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if volume := deployment.Spec.Template.Spec.Volumes[0]; volume.ConfigMap == nil || volume.ConfigMap.Name != configMap {
		t.Errorf("the pods have the volume %v, want the ConfigMap %s", volume, configMap)
	}
	p.wantQuota()
	p.helm("uninstall", "gpu-scheduler")
	p.wantQuota()
	_, err = p.cluster.Client().AppsV1().Deployments(namespace).Get(t.Context(), "gpu-scheduler", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("after helm uninstall the Deployment is there: %v", err)
	}
}

// TestHelmUpgradesBetweenVersions: what a version of the chart has and the other has not comes and goes with upgrade and rollback, all else stays. So do the quotas,
// even where an upgrade gives up their definition.
func TestHelmUpgradesBetweenVersions(t *testing.T) {
	p := newPlane(t)
	version := chartVersion(t)
	older, newer := packageChart(t, olderChart(t, version)), packageChart(t, chart)
	p.kubectl("create", "-f", filepath.Join(root, "manifests/base/namespace.yaml"))
	p.helm("install", "gpu-scheduler", older)
	p.addQuota()
	const release, added, removed = "secrets gpu-scheduler/sh.helm.release.v1.gpu-scheduler.v", "roles.rbac.authorization.k8s.io gpu-scheduler/gpu-scheduler-answers",
		"configmaps gpu-scheduler/gpu-scheduler-retired"
	var first map[string]bool
	p.eventually("the API server lists what it makes of the definition", func() (bool, string) {
		first = p.mustHaveEverything()
		for object := range leftWithQuotas {
			if !first[object] {
				return false, "without " + object
			}
		}
		return true, ""
	})
	p.wantVersion(olderVersion, false)

	p.helm("upgrade", "gpu-scheduler", newer)
	p.wantChanged(first, []string{added, release + "2"}, []string{removed})
	p.wantVersion(version, true)
	p.wantQuota()
	second := p.mustHaveEverything()
	p.helm("rollback", "gpu-scheduler", "1")
	p.wantChanged(second, []string{removed, release + "3"}, []string{added})
	p.wantVersion(olderVersion, false)
	p.wantQuota()

	third := p.mustHaveEverything()
	p.helm("upgrade", "gpu-scheduler", newer, "--set", "quotaDefinition=false")
	p.wantChanged(third, []string{added, release + "4"}, []string{removed})
	p.wantQuota()
}

// TestAdmissionPoliciesLookFirst: as their README applies them first, the admission policies refuse nothing, and the API server counts what they would refuse.
func TestAdmissionPoliciesLookFirst(t *testing.T) {
	p := newPlane(t)
	p.kubectl("create", "namespace", "vision")
	pod := filepath.Join(t.TempDir(), "pod.yaml")
	const text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: vision}\nspec:\n  containers:\n" +
		"    - {name: main, image: registry.k8s.io/pause:3.10, resources: {limits: {nvidia.com/gpu: 1}}}\n"
	if err := os.WriteFile(pod, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	create := func() error {
		_, err := run(t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "create", "--dry-run=server", "-f", pod)
		return err
	}
	s := section{"manifests/policies/admission/README.md", "Keep tenants to their GPU quotas"}
	look := regexp.MustCompile("`(kubectl kustomize [^`]+)`").FindStringSubmatch(readPage(t, filepath.Join(root, s.page)))
	if look == nil {
		t.Fatal("the README has no command that applies the policies so that they refuse nothing")
	}
	p.typeIn(root, s, look[1])
	counted := regexp.MustCompile(`(?m)^apiserver_validating_admission_policy_check_total\{.*enforcement_action="audit".*policy="gpu-scheduler-gpu-pods"`)
	p.eventually("the API server counts what the policies would refuse", func() (bool, string) {
		if err := create(); err != nil {
			t.Fatal(err)
		}
		return counted.MatchString(mustRun(t, "kubectl", "--kubeconfig", p.cluster.Kubeconfig(), "get", "--raw", "/metrics")), "nothing is counted"
	})
	p.kubectl("apply", "-k", filepath.Join(root, "manifests/policies/admission"))
	p.eventually("the policies refuse", func() (bool, string) {
		err := create()
		return err != nil && strings.Contains(err.Error(), "must have spec.schedulerName"), fmt.Sprint(err)
	})
}

// chartVersion is the version that the chart's folder has, which is the scheduler's, too.
func chartVersion(t *testing.T) string {
	t.Helper()
	_, version, is := strings.Cut(readPage(t, filepath.Join(chart, "Chart.yaml")), "\nappVersion: ")
	if !is {
		t.Fatal("Chart.yaml has no appVersion")
	}
	version, _, _ = strings.Cut(version, "\n")
	return version
}

const olderVersion = "0.0.9"

// olderChart is the chart as an older version might have been: without a role, with an object that is no more, and with a column less of GpuQuota.
func olderChart(t *testing.T, version string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "chart")
	// The chart has links to the manifests.
	if output, err := exec.CommandContext(t.Context(), "cp", "-rL", chart, folder).CombinedOutput(); err != nil {
		t.Fatalf("copy the chart: %v: %s", err, output)
	}
	for file, change := range map[string][2]string{
		"Chart.yaml":               {"ersion: " + version + "\n", "ersion: " + olderVersion + "\n"}, // version and appVersion
		"templates/objects.yaml":   {` "base/answers-role.yaml"`, ""},
		"base/crds/gpuquotas.yaml": {"        - {name: Parent, type: string, jsonPath: .spec.parent, priority: 1}\n", ""},
	} {
		path := filepath.Join(folder, file)
		text := readPage(t, path)
		if !strings.Contains(text, change[0]) {
			t.Fatalf("%s has no %q", file, change[0])
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, change[0], change[1])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const retired = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gpu-scheduler-retired}\n"
	if err := os.WriteFile(filepath.Join(folder, "templates/retired.yaml"), []byte(retired), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// packageChart is what helm package makes of a chart's folder.
func packageChart(t *testing.T, folder string) string {
	t.Helper()
	dir := t.TempDir()
	mustRun(t, "helm", "package", "--destination", dir, folder)
	packages, err := filepath.Glob(filepath.Join(dir, "gpu-scheduler-*.tgz"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("helm package left %q, %v", packages, err)
	}
	return packages[0]
}

// wantVersion: the Deployment has the image of a version, and GpuQuota the column that the newer one has.
func (p *plane) wantVersion(want string, column bool) {
	p.t.Helper()
	deployment, err := p.cluster.Client().AppsV1().Deployments(namespace).Get(p.t.Context(), "gpu-scheduler", metav1.GetOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	if image := deployment.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, ":"+want) {
		p.t.Errorf("the Deployment's image is %s, want version %s", image, want)
	}
	definition := p.object("apiextensions.k8s.io", "v1", "customresourcedefinitions", "", "gpuquotas.gpu-scheduler.io")
	if has := strings.Contains(fmt.Sprint(definition.Object["spec"]), ".spec.parent"); has != column {
		p.t.Errorf("the column Parent of GpuQuota is there: %v, want %v", has, column)
	}
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
	p.waitEstablished("crd/gpuquotas.gpu-scheduler.io")
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
