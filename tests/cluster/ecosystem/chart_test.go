package ecosystem

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	namespace  = "gpu-scheduler"
	configMap  = "gpu-scheduler-config"
	kubernetes = "1.36.3" // the chart's cluster version: helm template has no cluster
)

// TestChartIsKustomize: what Helm makes of values is what kustomize makes of the same choices.
func TestChartIsKustomize(t *testing.T) {
	// Configurations: with all else by default; with two profiles; with another name of the profile and of the lease; with the lease elsewhere.
	config, pools, shard := "manifests/policies/usable_gpu.yaml", "manifests/examples/two-pools/config.yaml", "manifests/examples/sharding/pool-a/config.yaml"
	const elsewhere = "tests/cluster/ecosystem/testdata/lease-elsewhere.yaml"
	setConfig := func(file string) []string { return []string{"--set-file", "config=" + filepath.Join(root, file)} }
	const replaceConfig = `
configMapGenerator:
  - name: gpu-scheduler-config
    namespace: gpu-scheduler
    behavior: replace
    files: [config.yaml]
`
	cases := []struct {
		name      string
		values    []string // of helm template
		resources []string // of the kustomization, below manifests
		more      string   // the rest of it, about a config.yaml that is the one among the values
	}{
		{"nothing is chosen", nil, []string{"base"}, ""},
		{"without quotas", []string{"--set", "quotaDefinition=false"}, []string{"base"}, `
patches:
  - patch: "{$patch: delete, apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gpuquotas.gpu-scheduler.io}}"
`},
		{"an image", []string{"--set", "image.repository=registry.example.com/gpu-scheduler,image.tag=0.2.0-rc.1,image.pullPolicy=Always,imagePullSecrets[0].name=pull"}, []string{"base"}, `
images:
  - {name: gpu-scheduler, newName: registry.example.com/gpu-scheduler, newTag: 0.2.0-rc.1}
patches:
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: gpu-scheduler, namespace: gpu-scheduler}
      spec:
        template:
          spec:
            imagePullSecrets: [{name: pull}]
            containers: [{name: gpu-scheduler, imagePullPolicy: Always}]
`},
		{"where it runs and what it gets", []string{"--set", "replicas=3,resources.requests.cpu=1,resources.limits.memory=2Gi,nodeSelector.pool=system,tolerations[0].operator=Exists"}, []string{"base"}, `
replicas:
  - {name: gpu-scheduler, count: 3}
patches:
  - target: {kind: Deployment}
    patch: |
      - {op: replace, path: /spec/template/spec/containers/0/resources, value: {requests: {cpu: 1}, limits: {memory: 2Gi}}}
      - {op: add, path: /spec/template/spec/nodeSelector, value: {pool: system}}
      - {op: add, path: /spec/template/spec/tolerations, value: [{operator: Exists}]}
`},
		{"a configuration", setConfig(config), []string{"base"}, replaceConfig},
		{"two profiles", append(setConfig(pools), "--set", "admission=true,preemption=true,admissionBinders={system:serviceaccount:a:b},admissionDrainers={system:serviceaccount:a:c,drain@example.com}"), []string{"base", "policies/admission", "policies/preemption"}, replaceConfig + `
patches:
  - target: {kind: ValidatingAdmissionPolicy, name: gpu-scheduler-running-pods}
    patch: |
      - {op: replace, path: /spec/variables/0/expression, value: "['system:kube-scheduler', 'system:serviceaccount:gpu-scheduler:gpu-scheduler', 'system:serviceaccount:a:b']"}
      - {op: replace, path: /spec/variables/1/expression, value: "['system:serviceaccount:a:c', 'drain@example.com']"}
  - target: {kind: ValidatingAdmissionPolicy, name: gpu-scheduler-(pod-status|evictions|gpu-pods)}
    patch: |
      - {op: replace, path: /spec/variables/0/expression, value: "['gpu-training', 'gpu-inference']"}
`},
		{"admission policies that refuse nothing yet", []string{"--set", "admission=true,preemption=true,admissionActions={Warn,Audit}"}, []string{"base", "policies/admission", "policies/preemption"}, `
patches:
  - target: {kind: ValidatingAdmissionPolicyBinding, name: gpu-scheduler-(gpu-pods|charged-as|namespace-labels|running-pods)}
    patch: |
      - {op: replace, path: /spec/validationActions, value: [Warn, Audit]}
`},
		{"a profile and a lease of another name", append(setConfig(shard), "--set", "metrics.serviceMonitor=true"), []string{"base", "monitoring"}, replaceConfig + `
patches:
  - target: {kind: ValidatingAdmissionPolicy, name: gpu-scheduler-pod-status}
    patch: |
      - {op: replace, path: /spec/variables/0/expression, value: "['gpu-pool-a']"}
  - target: {kind: Role, name: gpu-scheduler-leader-election}
    patch: |
      - {op: replace, path: /rules/1/resourceNames, value: [gpu-pool-a, gpu-pool-a-store]}
      - {op: replace, path: /rules/3/resourceNames, value: [gpu-pool-a-quotas]}
  - target: {kind: Role, name: gpu-scheduler-(ui|answers)}
    patch: |
      - {op: replace, path: /rules/0/resourceNames, value: [gpu-pool-a]}
  - target: {kind: PrometheusRule}
    patch: "{$patch: delete, apiVersion: v1, kind: any, metadata: {name: any}}"
  - target: {kind: ConfigMap, labelSelector: grafana_dashboard}
    patch: "{$patch: delete, apiVersion: v1, kind: any, metadata: {name: any}}"
`},
		{"a lease in another namespace", setConfig(elsewhere), []string{"base"}, replaceConfig + `
patches:
  - target: {kind: Role|RoleBinding, name: gpu-scheduler-leader-election}
    patch: |
      - {op: replace, path: /metadata/namespace, value: kube-system}
  - target: {kind: FlowSchema, name: gpu-scheduler-leader-election}
    patch: |
      - {op: replace, path: /spec/rules/0/resourceRules/0/namespaces, value: [kube-system]}
`},
		{"all that there is", []string{"--set", "metrics.serviceMonitor=true,metrics.namespace=observability,metrics.serviceAccount=prometheus,admission=true,defaultSpread=true,preemption=true",
			"--set", "metrics.alerts=true,metrics.dcgmAlerts=true,metrics.dashboards=true,metrics.labels.release=stack"},
			[]string{"base", "monitoring", "policies/admission", "policies/default-spread", "policies/preemption"}, `
patches:
  - target: {kind: NetworkPolicy}
    patch: |
      - {op: replace, path: /spec/ingress/0/from/0/namespaceSelector/matchLabels, value: {kubernetes.io/metadata.name: observability}}
  - target: {kind: ClusterRoleBinding|RoleBinding, name: gpu-scheduler-metrics-reader}
    patch: |
      - {op: replace, path: /subjects/0/name, value: prometheus}
      - {op: replace, path: /subjects/0/namespace, value: observability}
  - target: {kind: ServiceMonitor|PrometheusRule}
    patch: |
      - {op: add, path: /metadata/labels/release, value: stack}
`},
		{"the page", []string{"--set", "ui=true"}, []string{"base"}, `
patches:
  - target: {kind: Deployment}
    patch: |
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: --ui}
`},
		{"flags, and a volume for one", []string{"--set", "extraArgs={--flight-recording=64Mi,--flight-recording-dir=/recordings}", "--set",
			"extraVolumes[0].name=recordings,extraVolumes[0].emptyDir.sizeLimit=300Mi,extraVolumeMounts[0].name=recordings,extraVolumeMounts[0].mountPath=/recordings"},
			[]string{"base"}, `
patches:
  - target: {kind: Deployment}
    patch: |
      - {op: add, path: /spec/template/spec/volumes/-, value: {name: recordings, emptyDir: {sizeLimit: 300Mi}}}
      - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: recordings, mountPath: /recordings}}
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--flight-recording=64Mi"}
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--flight-recording-dir=/recordings"}
`},
		{"the API server's networks", []string{"--set", "apiServerNetworks={10.0.0.0/28,fd00::/120}"}, []string{"base"}, `
patches:
  - target: {kind: NetworkPolicy}
    patch: |
      - {op: add, path: /spec/ingress/-, value: {from: [{ipBlock: {cidr: 10.0.0.0/28}}, {ipBlock: {cidr: "fd00::/120"}}], ports: [{port: metrics}]}}
`},
		{"answers for tenants", []string{"--set", "answers=true"}, []string{"base"}, `
patches:
  - target: {kind: Deployment}
    patch: |
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: --answers}
`},
		{"dashboards alone", []string{"--set", "metrics.dashboards=true"}, []string{"base", "monitoring"}, `
patches:
  - target: {kind: ServiceMonitor|PrometheusRule|Service}
    patch: "{$patch: delete, apiVersion: v1, kind: any, metadata: {name: any}}"
  - target: {name: gpu-scheduler-metrics-reader}
    patch: "{$patch: delete, apiVersion: v1, kind: any, metadata: {name: any}}"
`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			overlay := makeOverlay(t, c.resources, c.more, configOf(c.values))
			want := byName(t, mustRun(t, "kubectl", "kustomize", overlay))
			got := byName(t, template(t, c.values...))
			delete(want, "Namespace "+namespace) // which there must be before a release can be in it
			for object := range maps.Keys(got) {
				unhelm(t, got[object])
			}
			for object := range maps.Keys(want) {
				unkustomize(want[object])
			}
			if g, w := names(got), names(want); !slices.Equal(g, w) {
				t.Errorf("the chart makes %q, kustomize %q", g, w)
			}
			for object := range got {
				if want[object] != nil && !equality.Semantic.DeepEqual(got[object].Object, want[object].Object) {
					t.Errorf("%s differs (-kustomize +chart): %s", object, diff.Diff(want[object].Object, got[object].Object))
				}
			}
		})
	}
}

// TestChartLinksAlerts: with the value for it, each alert has a link in place of a path, as the command of docs/alerts.md writes one.
func TestChartLinksAlerts(t *testing.T) {
	const rules, pages = "metrics.alerts=true,metrics.dcgmAlerts=true", "https://git.example.com/gpu-scheduler/docs"
	plain := template(t, "--set", rules)
	want := strings.ReplaceAll(plain, "runbook: docs/", "runbook_url: "+pages+"/")
	if want == plain {
		t.Fatal("no alert has a runbook")
	}
	for _, value := range []string{pages, pages + "/"} {
		if got := template(t, "--set", rules+",metrics.runbooks="+value); got != want {
			t.Errorf("with %s: %s", value, diff.Diff(want, got))
		}
	}
}

// TestChartTakesNothingForNone: a list or a map without anything behind its key, as where all of its lines are comments, is an empty one.
func TestChartTakesNothingForNone(t *testing.T) {
	const monitored = "metrics.serviceMonitor=true"
	if got, want := template(t, "--set", monitored+",extraArgs=null,extraVolumes=null,extraVolumeMounts=null,metrics.labels=null"), template(t, "--set", monitored); got != want {
		t.Errorf("without lists: %s", diff.Diff(want, got))
	}
}

// TestChartLabelsForOperator: a label by which the operator selects goes before the chart's own.
func TestChartLabelsForOperator(t *testing.T) {
	objects := byName(t, template(t, "--set", `metrics.serviceMonitor=true,metrics.labels.app\.kubernetes\.io/part-of=monitoring`))
	if got := objects["ServiceMonitor gpu-scheduler"].GetLabels()["app.kubernetes.io/part-of"]; got != "monitoring" {
		t.Errorf("the ServiceMonitor is part of %q", got)
	}
}

// TestChartIsClean: what helm lint says of it, and that values that there are not are refused.
func TestChartIsClean(t *testing.T) {
	mustRun(t, "helm", "lint", "--strict", "--namespace", namespace, "--kube-version", kubernetes, chart)
	for name, c := range map[string]struct{ args, want string }{
		"a value that there is not":                   {"--namespace gpu-scheduler --set replica=3", "replica"},
		"a value of another type":                     {"--namespace gpu-scheduler --set replicas=many", "replicas"},
		"a network that is none":                      {"--namespace gpu-scheduler --set apiServerNetworks={10.0.0.1}", "apiServerNetworks"},
		"a network of too many bits":                  {"--namespace gpu-scheduler --set apiServerNetworks={10.0.0.0/33}", "apiServerNetworks"},
		"an action that is none":                      {"--namespace gpu-scheduler --set admissionActions={Log}", "admissionActions"},
		"actions that exclude each other":             {"--namespace gpu-scheduler --set admissionActions={Deny,Warn}", "admissionActions"},
		"an action twice":                             {"--namespace gpu-scheduler --set admissionActions={Audit,Audit}", "admissionActions"},
		"a flag that is none":                         {"--namespace gpu-scheduler --set extraArgs={v=4}", "extraArgs"},
		"pages that are nowhere":                      {"--namespace gpu-scheduler --set metrics.runbooks=docs", "runbooks"},
		"a configuration that is none":                {"--namespace gpu-scheduler --set-string config=profiles:[", "config cannot be read"},
		"a configuration that is the second document": {"--namespace gpu-scheduler --set-file config=" + filepath.Join(root, "tests/cluster/ecosystem/testdata/two-documents.yaml"), "its first document must be a KubeSchedulerConfiguration"},
		"no number of replicas":                       {"--namespace gpu-scheduler --set replicas=null", "replicas"},
		"no image":                                    {"--namespace gpu-scheduler --set image.repository=null", "repository"},
		"no account for metrics":                      {"--namespace gpu-scheduler --set metrics.serviceAccount=null", "serviceAccount"},
		"a digest before the tag":                     {"--namespace gpu-scheduler --set image.repository=gpu-scheduler@sha256:0", "repository"},
		"a node's label that is no text":              {"--namespace gpu-scheduler --set nodeSelector.gpu=true", "nodeSelector"},
		"another namespace":                           {"--namespace kube-system", "the namespace must be gpu-scheduler"},
		"an API server that is too old":               {"--namespace gpu-scheduler --kube-version 1.29.0", "kubeVersion"},
	} {
		args := append([]string{"template", "gpu-scheduler", chart, "--kube-version", kubernetes}, strings.Fields(c.args)...)
		if _, err := run(t, "helm", args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error that names %q", name, err, c.want)
		}
	}
}

// TestChartIsPackaged: the folder follows links to the manifests, of which a package must have the contents.
func TestChartIsPackaged(t *testing.T) {
	all := []string{"--set", "admission=true,defaultSpread=true,preemption=true,metrics.serviceMonitor=true,metrics.alerts=true,metrics.dashboards=true"}
	if got, want := templateOf(t, packageChart(t, chart), all...), template(t, all...); got != want {
		t.Errorf("the package makes other objects than the folder: %s", diff.Diff(want, got))
	}
}

// template is what helm template makes of the chart.
func template(t *testing.T, values ...string) string {
	t.Helper()
	return templateOf(t, chart, values...)
}

func templateOf(t *testing.T, of string, values ...string) string {
	t.Helper()
	args := []string{"template", "gpu-scheduler", of, "--namespace", namespace, "--kube-version", kubernetes}
	return mustRun(t, "helm", append(args, values...)...)
}

// configOf is the file of the configuration among values for helm template; empty: there is none.
func configOf(values []string) string {
	for _, value := range values {
		if file, is := strings.CutPrefix(value, "config="); is {
			return file
		}
	}
	return ""
}

// makeOverlay writes a kustomization on top of those of manifests, and beside it a copy of a configuration, if there is one, as config.yaml.
func makeOverlay(t *testing.T, resources []string, more, config string) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Join(root, "build"), "overlay-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	text := "resources:\n"
	for _, resource := range resources {
		text += fmt.Sprintf("  - ../../manifests/%s\n", resource)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text+more), 0o644); err != nil {
		t.Fatal(err)
	}
	if config == "" {
		return dir
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(readPage(t, config)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// byName reads documents: objects by kind and name.
func byName(t *testing.T, documents string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects := map[string]*unstructured.Unstructured{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(documents), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) == 0 {
			continue
		}
		name := object.GetName()
		if object.GetKind() == "ConfigMap" && strings.HasPrefix(name, configMap+"-") {
			name = configMap // kustomize appends a digest of what is in it
			object.SetName(name)
		}
		key := object.GetKind() + " " + name
		if objects[key] != nil {
			t.Fatalf("%s is there twice", key)
		}
		objects[key] = object
	}
}

// unhelm takes away what Helm adds on purpose, and says so where it is not there.
func unhelm(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	takeLabel(t, object.Object, "Helm", "metadata", "labels")
	labels := object.GetLabels()
	if !strings.HasPrefix(labels["helm.sh/chart"], "gpu-scheduler-") {
		t.Errorf("%s has the chart's label %q", object.GetName(), labels["helm.sh/chart"])
	}
	delete(labels, "helm.sh/chart")
	object.SetLabels(labels)
	switch object.GetKind() {
	case "CustomResourceDefinition":
		if policy := object.GetAnnotations()["helm.sh/resource-policy"]; policy != "keep" {
			t.Errorf("uninstalling deletes the definition of GpuQuota, and all quotas: %q", policy)
		}
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
	case "Deployment":
		takeLabel(t, object.Object, "Helm", "spec", "template", "metadata", "labels")
		checksum, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations", "checksum/config")
		if len(checksum) != 64 {
			t.Errorf("a changed configuration does not start the pods anew: checksum %q", checksum)
		}
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "annotations")
	}
}

// unkustomize takes away what kustomize adds.
func unkustomize(object *unstructured.Unstructured) {
	unstructured.RemoveNestedField(object.Object, "metadata", "labels", managedBy)
	switch object.GetKind() {
	case "FlowSchema", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		object.SetNamespace("") // of which kustomize does not know that they have none
	case "Deployment":
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "labels", managedBy)
		volumes, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "volumes")
		for _, volume := range volumes {
			if _, isConfigMap := volume.(map[string]any)["configMap"]; isConfigMap {
				_ = unstructured.SetNestedField(volume.(map[string]any), configMap, "configMap", "name")
			}
		}
		_ = unstructured.SetNestedSlice(object.Object, volumes, "spec", "template", "spec", "volumes")
	}
}

const managedBy = "app.kubernetes.io/managed-by"

func takeLabel(t *testing.T, object map[string]any, want string, labels ...string) {
	t.Helper()
	path := append(labels, managedBy)
	if got, _, _ := unstructured.NestedString(object, path...); got != want {
		t.Errorf("%s is %q, want %q", strings.Join(path, "."), got, want)
	}
	unstructured.RemoveNestedField(object, path...)
}

func names(objects map[string]*unstructured.Unstructured) []string {
	return slices.Sorted(maps.Keys(objects))
}
