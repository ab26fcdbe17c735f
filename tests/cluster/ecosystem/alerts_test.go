package ecosystem

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// ruleFiles are the PrometheusRules of manifests/monitoring, each with a file of tests in testdata/alerts.
var ruleFiles = []string{"prometheus-rule.yaml", "dcgm-rule.yaml"}

type rule struct {
	Alert, Record, Expr string
	Labels, Annotations map[string]string
}

// ruleTests is what is read here of a file for promtool test rules.
type ruleTests struct {
	Tests []struct {
		Name  string
		Cases []struct {
			Alert  string `json:"alertname"`
			Expect []any  `json:"exp_alerts"`
		} `json:"alert_rule_test"`
	}
}

// TestAlerts: promtool accepts the rules, each alert fires and does not fire as its tests say, and each says how grave it is, what happened and
// where a page says what to do.
func TestAlerts(t *testing.T) {
	for _, file := range ruleFiles {
		t.Run(file, func(t *testing.T) {
			folder := t.TempDir()
			rules := extractRules(t, file, filepath.Join(folder, file))
			tests := filepath.Join(folder, "tests.yaml")
			text := readPage(t, filepath.Join(root, "tests/cluster/ecosystem/testdata/alerts", file))
			if err := os.WriteFile(tests, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			mustRun(t, "promtool", "check", "rules", filepath.Join(folder, file))
			if _, err := run(t, "promtool", "test", "rules", tests); err != nil {
				t.Error(err)
			}
			fires, quiet := casesOf(t, text)
			for _, r := range rules {
				wantMetricsThatThereAre(t, r.Alert+r.Record, r.Expr)
				if r.Alert == "" {
					continue
				}
				if !slices.Contains(fires, r.Alert) || !slices.Contains(quiet, r.Alert) {
					t.Errorf("%s needs a case in which it fires and one in which it does not", r.Alert)
				}
				wantWords(t, r)
			}
		})
	}
}

// extractRules writes the rule file that a PrometheusRule holds, and returns its rules.
func extractRules(t *testing.T, file, to string) []rule {
	t.Helper()
	object := struct{ Spec json.RawMessage }{}
	spec := struct{ Groups []struct{ Rules []rule } }{}
	text := readPage(t, filepath.Join(root, "manifests/monitoring", file))
	err := yaml.Unmarshal([]byte(text), &object)
	if err == nil {
		err = json.Unmarshal(object.Spec, &spec)
	}
	if err == nil {
		err = os.WriteFile(to, object.Spec, 0o600)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var rules []rule
	for _, group := range spec.Groups {
		rules = append(rules, group.Rules...)
	}
	return rules
}

// casesOf are the alerts of which there is a case in which they fire, and those of which there is one in which they do not.
func casesOf(t *testing.T, text string) (fires, quiet []string) {
	t.Helper()
	tests := ruleTests{}
	if err := yaml.Unmarshal([]byte(text), &tests); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests.Tests {
		for _, c := range test.Cases {
			if len(c.Expect) > 0 {
				fires = append(fires, c.Alert)
			} else {
				quiet = append(quiet, c.Alert)
			}
		}
	}
	return fires, quiet
}

func wantWords(t *testing.T, alert rule) {
	t.Helper()
	if !slices.Contains([]string{"critical", "warning", "info"}, alert.Labels["severity"]) {
		t.Errorf("%s has the severity %q", alert.Alert, alert.Labels["severity"])
	}
	for _, name := range []string{"summary", "description"} {
		if !strings.HasSuffix(alert.Annotations[name], ".") {
			t.Errorf("%s has the %s %q, want sentences", alert.Alert, name, alert.Annotations[name])
		}
	}
	page, anchor, _ := strings.Cut(alert.Annotations["runbook"], "#")
	heading := regexp.MustCompile(`(?m)^### ` + alert.Alert + `$`)
	if page != "docs/alerts.md" || anchor != strings.ToLower(alert.Alert) || !heading.MatchString(readPage(t, filepath.Join(root, page))) {
		t.Errorf("%s has the runbook %q, want a heading of its name in docs/alerts.md", alert.Alert, alert.Annotations["runbook"])
	}
}

// TestAlertsKnowSharedMigInstances: the rule about GPUs that are shared has a label for each MIG profile that the scheduler knows.
func TestAlertsKnowSharedMigInstances(t *testing.T) {
	rules := readPage(t, filepath.Join(root, "manifests/monitoring/dcgm-rule.yaml"))
	profiles := migProfiles(t)
	for _, profile := range profiles {
		label := "label_nvidia_com_mig_" + strings.ReplaceAll(profile, ".", "_") + "_replicas"
		if !strings.Contains(rules, "kube_node_labels{"+label+`!~"|0|1"}`) {
			t.Errorf("dcgm-rule.yaml does not read %s", label)
		}
	}
	if known := strings.Count(rules, "label_nvidia_com_mig_"); known != len(profiles) {
		t.Errorf("dcgm-rule.yaml has %d profiles, the scheduler %d", known, len(profiles))
	}
}

// migProfiles are the MIG profiles in the scheduler's table, without those with a suffix: those that are written there, and those of the models that have
// eight slices, of which it has the gigabytes.
func migProfiles(t *testing.T) []string {
	t.Helper()
	table := readPage(t, filepath.Join(root, "scheduler/gpu/mig/geometry.cc"))
	var profiles []string
	for _, written := range regexp.MustCompile(`"(\dg\.\d+gb)"`).FindAllStringSubmatch(table, -1) {
		profiles = append(profiles, written[1])
	}
	models := regexp.MustCompile(`EightSlices\{"[^"]+", (\d+), (\d+), (\d+), (\d+)\}`).FindAllStringSubmatch(table, -1)
	if len(models) == 0 {
		t.Fatal("geometry.cc has no models any more")
	}
	for _, gigabytes := range models {
		for _, of := range []struct{ name, gigabytes string }{
			{"1g", gigabytes[1]}, {"1g", gigabytes[2]}, {"2g", gigabytes[2]}, {"3g", gigabytes[3]}, {"4g", gigabytes[3]}, {"7g", gigabytes[4]}} {
			profiles = append(profiles, of.name+"."+of.gigabytes+"gb")
		}
	}
	slices.Sort(profiles)
	return slices.Compact(profiles)
}

// TestAlertsPageHasNoOthers: no heading of docs/alerts.md is of an alert that there is no more.
func TestAlertsPageHasNoOthers(t *testing.T) {
	var alerts []string
	for _, file := range ruleFiles {
		for _, r := range extractRules(t, file, filepath.Join(t.TempDir(), file)) {
			alerts = append(alerts, r.Alert)
		}
	}
	page := readPage(t, filepath.Join(root, "docs/alerts.md"))
	for _, heading := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(page, -1) {
		if !slices.Contains(alerts, heading[1]) {
			t.Errorf("docs/alerts.md has the heading %q, which is no alert", heading[1])
		}
	}
}

var (
	metricName = regexp.MustCompile(`\b(?:gpu_scheduler|scheduler|rest_client|leader_election|process)_\w+\b`)
	metricRow  = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\|")
)

// wantMetricsThatThereAre: what an expression names of the scheduler's metrics has a row in docs/metrics.md.
func wantMetricsThatThereAre(t *testing.T, where, expression string) {
	t.Helper()
	var rows []string
	for _, row := range metricRow.FindAllStringSubmatch(readPage(t, filepath.Join(root, "docs/metrics.md")), -1) {
		rows = append(rows, row[1])
		if row[2] == "histogram" {
			rows = append(rows, row[1]+"_bucket", row[1]+"_sum", row[1]+"_count")
		}
	}
	if len(rows) == 0 {
		t.Fatal("docs/metrics.md has no rows any more")
	}
	for _, name := range metricName.FindAllString(expression, -1) {
		if !slices.Contains(rows, name) {
			t.Errorf("%s: docs/metrics.md has no metric %s", where, name)
		}
	}
}
