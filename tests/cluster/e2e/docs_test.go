package e2e

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// TestDocsYAML: what YAML stands in the pages is taken: objects by the API server, which stores nothing; configurations, of which a page may
// show a part, by the scheduler; and patches by kustomize.
func TestDocsYAML(t *testing.T) {
	quotas(t) // applies the definition, and waits until it is in force
	client, err := dynamic.NewForConfig(lent(t).cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]schema.GroupVersionResource{
		"v1 Pod":                             {Version: "v1", Resource: "pods"},
		"batch/v1 Job":                       {Group: "batch", Version: "v1", Resource: "jobs"},
		"networking.k8s.io/v1 NetworkPolicy": {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
		"gpu-scheduler.io/v1alpha1 GpuQuota": quotaResource,
	}
	program := newSubject(t, "").program
	blocks := yamlBlocks(t)
	for _, block := range blocks {
		kind := strings.TrimSpace(block.object.GetAPIVersion() + " " + block.object.GetKind())
		resource, known := kinds[kind]
		switch {
		case block.object.Object["patches"] != nil:
			checkPatches(t, block)
		case kind == "" || kind == "kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration":
			checkConfiguration(t, program, block)
		case !known:
			t.Errorf("%s: nobody here can say whether a %s is right", block.where, kind)
		default:
			api := dynamic.ResourceInterface(client.Resource(resource))
			if resource != quotaResource {
				block.object.SetNamespace("default") // the one that a page names need not be there
				api = client.Resource(resource).Namespace("default")
			}
			_, err := api.Create(t.Context(), block.object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				t.Errorf("%s: %v", block.where, err)
			}
		}
	}
	if len(blocks) < 5 {
		t.Errorf("there are %d blocks of YAML in all pages: are they still found?", len(blocks))
	}
}

type yamlBlock struct {
	where  string // FILE, and which block of it
	object *unstructured.Unstructured
}

var yamlFence = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// yamlBlocks reads the documents of all blocks of YAML in the repository's pages.
func yamlBlocks(t *testing.T) []yamlBlock {
	t.Helper()
	var blocks []yamlBlock
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "build" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		for number, found := range yamlFence.FindAllStringSubmatch(string(page), -1) {
			decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(found[1]), 4096)
			for {
				block := yamlBlock{fmt.Sprintf("%s, block %d", name, number+1), &unstructured.Unstructured{}}
				if err := decoder.Decode(&block.object.Object); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Errorf("%s: %v", block.where, err)
					break
				}
				blocks = append(blocks, block)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// checkConfiguration asks the scheduler about a configuration, or about a part of one.
func checkConfiguration(t *testing.T, program string, block yamlBlock) {
	t.Helper()
	block.object.SetAPIVersion("kubescheduler.config.k8s.io/v1")
	block.object.SetKind("KubeSchedulerConfiguration")
	text, err := block.object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), program, "--check-config", "--config", file).CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", block.where, err, output)
	}
}

// checkPatches has kustomize apply a part of an overlay to manifests/base. A patch whose target is not there changes nothing, without an error.
func checkPatches(t *testing.T, block yamlBlock) {
	t.Helper()
	block.object.Object["resources"] = []any{"../../manifests/base"}
	text, err := block.object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	// Kustomize takes other folders by a relative path.
	folder, err := os.MkdirTemp(filepath.Join(root, "build"), "overlay-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if kubectl(t, "kustomize", folder) == kubectl(t, "kustomize", filepath.Join(root, "manifests/base")) {
		t.Errorf("%s: the patches change nothing", block.where)
	}
}
