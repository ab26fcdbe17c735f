package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gpu-scheduler.io/tests/cluster/internal/measure"
)

// column of the table: a quantity of a result. NaN where it has none.
type column struct {
	title  string
	format string
	of     func(Result) float64
	ratio  bool // worth a ratio between subjects
}

// columns for pods that were all there first, or that came at a rate.
func (s settings) columns() []column {
	usual := []column{
		{"its CPU ms/pod", "%.2f", func(r Result) float64 { return r.SubjectCPU }, true},
		{"peak MiB", "%.0f", func(r Result) float64 { return r.PeakMemory }, true},
		{"API server + etcd CPU ms/pod", "%.2f", func(r Result) float64 { return r.ControlPlaneCPU }, true},
	}
	last := []column{
		{"until last event s", "%.1f", func(r Result) float64 { return present(r.UntilLastEvent) }, false},
		{"nodes used", "%.0f", func(r Result) float64 { return float64(r.NodesUsed) }, false},
		{"cores taken by others", "%.2f", func(r Result) float64 { return r.Others }, false},
	}
	if s.OpenLoop > 0 {
		return slices.Concat([]column{
			{"created/s", "%.0f", func(r Result) float64 { return present(r.Created) }, false},
			{"create to bind p50 ms", "%.1f", func(r Result) float64 { return present(1000 * r.Latency50) }, true},
			{"p99 ms", "%.1f", func(r Result) float64 { return present(1000 * r.Latency99) }, true},
		}, usual, last)
	}
	return slices.Concat([]column{
		{"binds/s", "%.0f", func(r Result) float64 { return present(r.BindsPerSecond) }, true},
		{"with events, pods/s", "%.0f", func(r Result) float64 { return present(r.ToldPerSecond) }, true},
		{"start to first bind s", "%.2f", func(r Result) float64 { return present(r.StartToFirstBind) }, false},
	}, usual, last)
}

// present turns "does not apply" into NaN.
func present(value float64) float64 {
	if value == 0 {
		return math.NaN()
	}
	return value
}

// report is what a person reads: what was done, medians with their ranges, ratios within each round, and what is not as it should be.
func report(s settings, where environment, results []Result) string {
	var out strings.Builder
	fmt.Fprintln(&out, s.heading(where, results))
	bySubject, order := group(results)
	rows := [][]string{{"subject"}}
	columns := s.columns()
	for _, c := range columns {
		rows[0] = append(rows[0], c.title)
	}
	for _, name := range order {
		row := []string{name}
		for _, c := range columns {
			row = append(row, cell(c.format, spread(bySubject[name], c.of)))
		}
		rows = append(rows, row)
	}
	out.WriteString(table(rows))
	if ratios := ratioRows(bySubject, order, columns); len(ratios) > 1 {
		fmt.Fprintf(&out, "\nRatios, each within its round:\n\n%s", table(ratios))
	}
	for _, r := range results {
		for _, complaint := range append(s.faults(r), s.remarks(r)...) {
			fmt.Fprintf(&out, "\nRound %d, %s: %s.", r.Round, r.Subject, complaint)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func (s settings) heading(where environment, results []Result) string {
	rounds := results[len(results)-1].Round
	what := fmt.Sprintf("%d nodes, %d pods of %d GPU", s.Nodes, s.Pods, s.GPU)
	if s.GPU == 0 {
		what = fmt.Sprintf("%d nodes, %d plain pods", s.Nodes, s.Pods)
	}
	how := "all there before the subject starts"
	if s.Existing > 0 {
		how += fmt.Sprintf(", as are %d others, bound", s.Existing)
	}
	if s.Lease {
		how += ", and a lease that a predecessor gave back"
	}
	if s.OpenLoop > 0 {
		how = fmt.Sprintf("created at %.0f/s while it runs", s.OpenLoop)
	}
	return fmt.Sprintf("%s, %d distinct in CPU, %s; qps/burst %d/%d; Kubernetes %s.\n%d cores, shared by %s; load average before: %s.\nMedian of %d rounds (min–max).\n",
		what, s.Shapes, how, s.QPS, s.Burst, where.Kubernetes, where.Cores, where.SharedBy, where.LoadAverage, rounds)
}

// group keeps the order in which the subjects first came.
func group(results []Result) (bySubject map[string][]Result, order []string) {
	bySubject = map[string][]Result{}
	for _, r := range results {
		if bySubject[r.Subject] == nil {
			order = append(order, r.Subject)
		}
		bySubject[r.Subject] = append(bySubject[r.Subject], r)
	}
	return bySubject, order
}

func spread(results []Result, of func(Result) float64) measure.Spread {
	var values []float64
	for _, r := range results {
		values = append(values, of(r))
	}
	return measure.SpreadOf(values)
}

// ratioRows has each scheduler to the other and to the floor that does the same.
func ratioRows(bySubject map[string][]Result, order []string, columns []column) [][]string {
	header := []string{"ratio"}
	for _, c := range columns {
		if c.ratio {
			header = append(header, c.title)
		}
	}
	rows := [][]string{header}
	for _, pair := range [][2]string{
		{"gpu-scheduler", "kube-scheduler"},
		{"gpu-scheduler", "floor: binds"}, {"kube-scheduler", "floor: binds"},
		{"gpu-scheduler", "floor: binds, events"}, {"kube-scheduler", "floor: binds, events"},
	} {
		if !slices.Contains(order, pair[0]) || !slices.Contains(order, pair[1]) {
			continue
		}
		row := []string{pair[0] + " / " + pair[1]}
		for _, c := range columns {
			if c.ratio {
				row = append(row, cell("%.2f", measure.SpreadOf(ratios(bySubject[pair[0]], bySubject[pair[1]], c.of))))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// ratios pairs what was measured in the same round.
func ratios(these, those []Result, of func(Result) float64) (values []float64) {
	for _, a := range these {
		for _, b := range those {
			if a.Round == b.Round && of(b) != 0 {
				values = append(values, of(a)/of(b))
			}
		}
	}
	return values
}

// faults is why a result must not be quoted: the subject left pods out (their latencies are in no percentile), or gave room twice.
func (s settings) faults(r Result) (found []string) {
	if r.Bound != s.Pods {
		found = append(found, fmt.Sprintf("only %d of %d pods were bound", r.Bound, s.Pods))
	}
	if r.Crowded > 0 {
		found = append(found, fmt.Sprintf("%d nodes have more pods than room", r.Crowded))
	}
	return found
}

// remarks is what else might make a reader misjudge a result.
func (s settings) remarks(r Result) (found []string) {
	if r.Told != s.Pods && r.Subject != subjects[floorName][0].name {
		found = append(found, fmt.Sprintf("only %d of %d pods got a Scheduled event", r.Told, s.Pods))
	}
	if r.Others > 0.2 {
		found = append(found, fmt.Sprintf("disturbed: other processes took %.2f cores", r.Others))
	}
	return found
}

// err names the results that are not to be quoted; nil if all are.
func (m section) err() error {
	var wrong []error
	for _, r := range m.Results {
		for _, fault := range m.Settings.faults(r) {
			wrong = append(wrong, fmt.Errorf("round %d, %s: %s", r.Round, r.Subject, fault))
		}
	}
	return errors.Join(wrong...)
}

func cell(format string, s measure.Spread) string {
	if math.IsNaN(s.Median) {
		return "–"
	}
	return fmt.Sprintf(format+" ("+format+"–"+format+")", s.Median, s.Min, s.Max)
}

// table lays rows out as Markdown; the first is the header.
func table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	var out strings.Builder
	for n, row := range rows {
		for i, text := range row {
			fmt.Fprintf(&out, "| %-*s ", widths[i], text)
		}
		out.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				out.WriteString("| " + strings.Repeat("-", width) + " ")
			}
			out.WriteString("|\n")
		}
	}
	return out.String()
}
