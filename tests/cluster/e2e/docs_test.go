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

// TestDocsYAML: what YAML stands in the pages is taken: objects by the API server, which stores nothing, and configurations, of which a page may
// show a part, by the scheduler.
func TestDocsYAML(t *testing.T) {
	quotas(t) // applies the definition, and waits until it is in force
	client, err := dynamic.NewForConfig(lent(t).cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]schema.GroupVersionResource{
		"v1 Pod":                             {Version: "v1", Resource: "pods"},
		"batch/v1 Job":                       {Group: "batch", Version: "v1", Resource: "jobs"},
		"gpu-scheduler.io/v1alpha1 GpuQuota": quotaResource,
	}
	program := newSubject(t, "").program
	blocks := yamlBlocks(t)
	for _, block := range blocks {
		kind := strings.TrimSpace(block.object.GetAPIVersion() + " " + block.object.GetKind())
		resource, known := kinds[kind]
		switch {
		case kind == "" || kind == "kubescheduler.config.k8s.io/v1 KubeSchedulerConfiguration":
			checkConfiguration(t, program, block)
		case !known:
			t.Errorf("%s: nobody here can say whether a %s is right", block.where, kind)
		default:
			api := dynamic.ResourceInterface(client.Resource(resource))
			if resource != quotaResource {
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
