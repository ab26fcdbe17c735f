package ecosystem

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dashboard is what is read here of Grafana's JSON model.
type dashboard struct {
	Title, UID, Description string
	Templating              struct{ List []variable }
	Panels                  []panel
}

type variable struct {
	Name, Type string
	Query      any // of the type datasource its kind, of the type query an object
}

type panel struct {
	Title, Type string
	Datasource  source
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct {
		Expr, LegendFormat string
		Datasource         source
	}
}

type source struct{ Type, UID string }

// byVariable is the data source that the user chooses at the top of the dashboard.
var byVariable = source{"prometheus", "${datasource}"}

// TestDashboards: what a reader sees of each panel is labelled, no panel hides another, and promtool can read every query.
func TestDashboards(t *testing.T) {
	titles := map[string]string{}
	for file, d := range readDashboards(t) {
		t.Run(file, func(t *testing.T) {
			for _, name := range []string{d.Title, d.UID} {
				if titles[name] != "" || name == "" {
					t.Errorf("%q is the title or uid of %q, too", name, titles[name])
				}
				titles[name] = file
			}
			if d.Description == "" || d.variable("datasource").Type != "datasource" {
				t.Errorf("it needs a description and a variable for the data source, has %q and %v", d.Description, d.Templating.List)
			}
			for i, p := range d.Panels {
				p.wantLabels(t)
				for _, other := range d.Panels[:i] {
					if p.overlaps(other) {
						t.Errorf("panel %q lies on %q", p.Title, other.Title)
					}
				}
			}
			for _, q := range d.queries(t) {
				wantMetricsThatThereAre(t, q.panel, q.expression)
			}
			wantReadable(t, d)
		})
	}
}

func readDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "manifests/monitoring/dashboards/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are the dashboards %q: %v", files, err)
	}
	dashboards := map[string]dashboard{}
	for _, file := range files {
		d := dashboard{}
		if err := json.Unmarshal([]byte(readPage(t, file)), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		dashboards[filepath.Base(file)] = d
	}
	return dashboards
}

func (d dashboard) variable(name string) variable {
	for _, v := range d.Templating.List {
		if v.Name == name {
			return v
		}
	}
	return variable{}
}

func (p panel) wantLabels(t *testing.T) {
	t.Helper()
	if p.Title == "" {
		t.Errorf("a %s has no title", p.Type)
	}
	if p.Type == "row" {
		return
	}
	if p.FieldConfig.Defaults.Unit == "" || p.Datasource != byVariable || len(p.Targets) == 0 {
		t.Errorf("panel %q: unit %q, data source %v, %d queries", p.Title, p.FieldConfig.Defaults.Unit, p.Datasource, len(p.Targets))
	}
	for _, target := range p.Targets {
		if target.Expr == "" || target.Datasource != byVariable || target.LegendFormat == "" && p.Type != "table" {
			t.Errorf("panel %q: query %q, data source %v, legend %q", p.Title, target.Expr, target.Datasource, target.LegendFormat)
		}
	}
}

func (p panel) overlaps(other panel) bool {
	a, b := p.GridPos, other.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H || a.X+a.W > 24
}

type query struct{ panel, expression string }

var (
	variableUse = regexp.MustCompile(`\$\{?(\w+)\}?`)
	labelValues = regexp.MustCompile(`^label_values\((.+), \w+\)$`)
)

// queries are those of the panels and of the variables, as Grafana sends them where all values are chosen.
func (d dashboard) queries(t *testing.T) []query {
	t.Helper()
	var found []query
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			found = append(found, query{p.Title, variableUse.ReplaceAllStringFunc(target.Expr, func(use string) string {
				name := variableUse.FindStringSubmatch(use)[1]
				if name == "__rate_interval" {
					return "30s"
				}
				if d.variable(name).Type != "query" {
					t.Errorf("panel %q: there is no variable %s", p.Title, name)
				}
				return ".*"
			})})
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		text := fmt.Sprint(v.Query.(map[string]any)["query"])
		asked := labelValues.FindStringSubmatch(text)
		if asked == nil {
			t.Fatalf("variable %s: %q", v.Name, text)
		}
		found = append(found, query{"the variable " + v.Name, asked[1]})
	}
	return found
}

// wantReadable has promtool read every query as the expression of a rule.
func wantReadable(t *testing.T, d dashboard) {
	t.Helper()
	type entry struct {
		Record string            `json:"record"`
		Expr   string            `json:"expr"`
		Labels map[string]string `json:"labels"`
	}
	type group struct {
		Name  string  `json:"name"`
		Rules []entry `json:"rules"`
	}
	g := group{Name: "queries"}
	for i, q := range d.queries(t) {
		g.Rules = append(g.Rules, entry{"query", q.expression, map[string]string{"number": fmt.Sprint(i)}})
	}
	text, err := json.Marshal(map[string][]group{"groups": {g}})
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "promtool", "check", "rules", file); err != nil {
		t.Error(strings.ReplaceAll(err.Error(), file, d.Title))
	}
}
