package e2e

import (
	"context"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestQuotaRules goes through what the API server takes for a GpuQuota, and through each class of mistake with what it says to it.
// Nothing is stored.
func TestQuotaRules(t *testing.T) {
	line := func(gpuType string, more object) object {
		made := object{"gpuType": gpuType, "guaranteed": "8"}
		for key, value := range more {
			made[key] = value
		}
		return made
	}
	lines := func(each ...any) list { return each }
	cases := []struct {
		name    string
		spec    object // over a good one; nil takes a field away
		message string // "": it is taken
	}{
		{"the least there is", object{}, ""},
		{"all that there is", object{
			"namespaces": list{"vision", "vision-dev"}, "cohort": "research", "order": "Strict", "maxGpusPerPod": "8",
			"namespaceSelector": object{
				"matchLabels":      object{"team": "vision"},
				"matchExpressions": list{object{"key": "stage", "operator": "NotIn", "values": list{"prod"}}},
			},
			"quotas": lines(line("NVIDIA-H100-80GB-HBM3", object{"limit": "16", "lendable": "4"}), line("L40S", nil), line("*", object{"guaranteed": "0"})),
		}, ""},
		{"only a selector", object{"namespaces": nil, "namespaceSelector": object{"matchLabels": object{"team": "vision"}}}, ""},
		{"a selector of all", object{"namespaces": nil, "namespaceSelector": object{}}, ""},
		{"numbers", object{"cohort": "research", "maxGpusPerPod": int64(4), "quotas": lines(line("*", object{"guaranteed": int64(8), "limit": int64(9), "lendable": int64(0)}))}, ""},
		{"parts of GPUs", object{"quotas": lines(line("*", object{"guaranteed": "500m"}), line("A100", object{"guaranteed": "0.25"}))}, ""},
		{"amounts that are equal but not alike", object{"cohort": "research", "quotas": lines(line("*", object{"guaranteed": "1", "limit": "1000m", "lendable": "1.0"}))}, ""},
		{"a limit that is the guarantee, alone", object{"quotas": lines(line("*", object{"limit": "8"}))}, ""},

		{"a parent of others", object{"namespaces": nil, "weight": int64(2), "cohort": "research"}, ""},
		{"one in a parent", object{"parent": "physics", "weight": int64(0), "quotas": lines(line("*", object{"limit": "9", "lendable": "4"}))}, ""},

		{"no namespace's name", object{"namespaces": list{"Team_Vision"}}, `spec.namespaces[0]: Invalid value: "Team_Vision": must be the name of a namespace`},
		{"one namespace twice", object{"namespaces": list{"vision", "vision"}}, `spec.namespaces[1]: Duplicate value: "vision"`},
		{"an unknown operator", object{"namespaceSelector": object{"matchExpressions": list{object{"key": "a", "operator": "Equals"}}}}, `spec.namespaceSelector.matchExpressions[0].operator: Unsupported value: "Equals"`},
		{"In without values", object{"namespaceSelector": object{"matchExpressions": list{object{"key": "a", "operator": "In"}}}}, "In and NotIn need values"},
		{"Exists with values", object{"namespaceSelector": object{"matchExpressions": list{object{"key": "a", "operator": "Exists", "values": list{"x"}}}}}, "Exists and DoesNotExist must have none"},

		{"no lines", object{"quotas": nil}, "spec.quotas: Required value"},
		{"an empty list of lines", object{"quotas": list{}}, "spec.quotas in body should have at least 1 items"},
		{"two lines for one type", object{"quotas": lines(line("*", nil), line("H100", nil), line("*", nil))}, `spec.quotas[2]: Duplicate value: {"gpuType":"*"}`},
		{"a line without a type", object{"quotas": lines(object{"guaranteed": "1"})}, "spec.quotas[0].gpuType: Required value"},
		{"a line without a guarantee", object{"quotas": lines(object{"gpuType": "*"})}, "spec.quotas[0].guaranteed: Required value"},
		{"a type that is no label's value", object{"quotas": lines(line("NVIDIA H100", nil))}, `spec.quotas[0].gpuType: Invalid value: "NVIDIA H100": must be a GPU product, a class such as H100, or "*"`},
		{"the product of shared GPUs", object{"quotas": lines(line("NVIDIA-L4-SHARED", nil))}, "must be the product without -SHARED or -MIG-..."},
		{"the product of MIG instances", object{"quotas": lines(line("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", nil))}, "must be the product without -SHARED or -MIG-..."},

		{"no quantity", object{"quotas": lines(line("*", object{"guaranteed": "eight"}))}, `spec.quotas[0].guaranteed: Invalid value: "eight": must be a quantity of GPUs, such as 8, 0.5 or 500m`},
		{"neither number nor string", object{"quotas": lines(line("*", object{"guaranteed": true}))}, "spec.quotas[0].guaranteed: Invalid value: \"boolean\""},
		{"a negative guarantee", object{"quotas": lines(line("*", object{"guaranteed": "-1"}))}, `spec.quotas[0].guaranteed: Invalid value: "-1": must not be negative`},
		{"a negative limit", object{"quotas": lines(line("*", object{"limit": int64(-1)}))}, "spec.quotas[0].limit: Invalid value: -1: must not be negative"},
		{"a negative part for others", object{"cohort": "research", "quotas": lines(line("*", object{"lendable": "-500m"}))}, `spec.quotas[0].lendable: Invalid value: "-500m": must not be negative`},
		{"more GPUs than there are", object{"quotas": lines(line("*", object{"guaranteed": "2M"}))}, `spec.quotas[0].guaranteed: Invalid value: "2M": must be at most 1M, a million GPUs`},
		{"a limit below the guarantee", object{"cohort": "research", "quotas": lines(line("*", object{"limit": "7999m"}))}, "spec.quotas[0].limit: Invalid value: must not be less than guaranteed"},
		{"to lend more than there is", object{"cohort": "research", "quotas": lines(line("*", object{"lendable": "9"}))}, "spec.quotas[0].lendable: Invalid value: must not be more than guaranteed"},
		{"to borrow from nobody", object{"quotas": lines(line("*", object{"limit": "9"}))}, "spec.quotas: Invalid value: a limit above guaranteed needs a cohort or a parent: there is no other quota to borrow from"},
		{"to lend to nobody", object{"quotas": lines(line("*", object{"lendable": "4"}))}, "spec.quotas: Invalid value: lendable needs a cohort or a parent: there is nobody to lend to"},
		{"a cohort and a parent", object{"cohort": "research", "parent": "physics"}, "spec.parent: Invalid value: a quota that has a parent lends and borrows inside it: its parent may have a cohort"},
		{"no parent's name", object{"parent": "Physics"}, `spec.parent: Invalid value: "Physics": must be the name of a GpuQuota`},
		{"a negative weight", object{"cohort": "research", "weight": int64(-1)}, "spec.weight in body should be greater than or equal to 0"},

		{"no cohort's name", object{"cohort": "Research Team"}, `spec.cohort: Invalid value: "Research Team": must be a name of lower-case letters, digits and dashes`},
		{"an unknown order", object{"order": "Fifo"}, `spec.order: Unsupported value: "Fifo": supported values: "BestEffort", "Strict"`},
		{"an unknown end", object{"whenDeleted": "Keep"}, `spec.whenDeleted: Unsupported value: "Keep": supported values: "Close", "Open"`},
		{"pods without GPUs", object{"maxGpusPerPod": "0"}, `spec.maxGpusPerPod: Invalid value: "0": must be more than 0`},
		{"pods with no quantity of GPUs", object{"maxGpusPerPod": "many"}, `spec.maxGpusPerPod: Invalid value: "many": must be a quantity of GPUs, such as 8, 0.5 or 500m`},
		{"a field that there is not", object{"borrowingLimit": "8"}, `unknown field "spec.borrowingLimit"`},
	}
	api := quotas(t)
	version, err := lent(t).cluster.Client().Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	unnamed := version.Minor < "35"
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := object{"namespaces": list{"vision"}, "quotas": lines(line("*", nil))}
			for key, value := range c.spec {
				if spec[key] = value; value == nil {
					delete(spec, key)
				}
			}
			strict := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
			_, err := api.Create(t.Context(), quota("rules", spec), strict)
			switch {
			case c.message == "" && err != nil:
				t.Errorf("want it taken, got %v", err)
			case c.message != "" && err == nil:
				t.Errorf("it was taken; want it refused with %q", c.message)
			case c.message != "" && !refusedWith(err, c.message, unnamed):
				t.Errorf("want it refused with %q, got %v", c.message, err)
			case c.message != "" && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err):
				t.Errorf("want a 422 or 400, got %v", err)
			}
		})
	}
}

// TestQuotaDefaults shows what the API server adds, and that a status is none of a user's business.
func TestQuotaDefaults(t *testing.T) {
	api := quotas(t)
	given := quota("defaults", object{"namespaces": list{"vision"}, "quotas": list{object{"gpuType": "*", "guaranteed": "8"}}})
	given.Object["status"] = object{"total": object{"used": "99"}}
	made, err := api.Create(t.Context(), given, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), "defaults", metav1.DeleteOptions{}) })
	if order, _, _ := unstructured.NestedString(made.Object, "spec", "order"); order != "BestEffort" {
		t.Errorf("order is %q, want the default, BestEffort", order)
	}
	if end, _, _ := unstructured.NestedString(made.Object, "spec", "whenDeleted"); end != "Close" {
		t.Errorf("whenDeleted is %q, want the default, Close", end)
	}
	if used, found, _ := unstructured.NestedString(made.Object, "status", "total", "used"); found {
		t.Errorf("a user wrote the status: used is %q", used)
	}
	if made.GetGeneration() != 1 {
		t.Errorf("generation is %d, want 1", made.GetGeneration())
	}
}

// refusedWith tells whether a refusal has the message. An API server before 1.35 names the type of a value that a rule refuses and not the value: `unnamed`.
func refusedWith(err error, message string, unnamed bool) bool {
	path, why, byRule := strings.Cut(message, ": Invalid value: ")
	if !unnamed || !byRule {
		return strings.Contains(err.Error(), message)
	}
	why = regexp.MustCompile(`^("[^"]*"|-?[0-9]+): `).ReplaceAllString(why, "")
	return regexp.MustCompile(regexp.QuoteMeta(path)+`: Invalid value: "[a-z]*": `+regexp.QuoteMeta(why)).MatchString(err.Error()) ||
		strings.Contains(err.Error(), message)
}
