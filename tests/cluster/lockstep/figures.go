package lockstep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Figures of a run.
type Figures struct {
	Pods, Placed, Waiting int
	Ties                  int // of the placed ones: several nodes scored as the best
	Unscored              int // of the placed ones: kube-scheduler scores them by other rules
	Stayed, Rounds        int // of those that wait: that stayed while the cluster changed, and changes that they stayed for
	Started               int // of these: that started
	NotTried              int // of these: that kube-scheduler did not try again, and placed when they were created again
	Differences           int
	Changes               map[string]int // by kind
	Reasons               map[string]int // that kube-scheduler gave, pods by each
}

func newFigures() Figures { return Figures{Changes: map[string]int{}, Reasons: map[string]int{}} }

// String is the line of figures.
func (f Figures) String() string {
	return fmt.Sprintf("%d pods: %d placed, of them %d with ties and %d not scored alike; %d waiting, of them %d for %d more changes, "+
		"after which %d started, %d of these at kube-scheduler's only when created again; %d differences",
		f.Pods, f.Placed, f.Ties, f.Unscored, f.Waiting, f.Stayed, f.Rounds, f.Started, f.NotTried, f.Differences)
}

// Err says whether the run shows that nothing differs.
func (f Figures) Err() error {
	switch {
	case f.Pods == 0:
		return fmt.Errorf("no pod was compared")
	case f.Differences > 0:
		return fmt.Errorf("%d differences", f.Differences)
	}
	return nil
}

// count takes a new pod.
func (f *Figures) count(a *asked) {
	f.Pods++
	if a.theirs.Node == "" {
		f.Waiting++
		for _, reason := range reasonsOf(Sentence(a.theirs.Message)) {
			f.Reasons[reason]++
		}
		return
	}
	f.Placed++
	if !a.scored() {
		f.Unscored++
	} else if a.isTie() {
		f.Ties++
	}
}

// reasonsOf are those of a sentence, without their numbers.
func reasonsOf(sentence string) (reasons []string) {
	_, list, _ := strings.Cut(sentence, " nodes are available: ")
	for _, part := range strings.Split(strings.TrimSuffix(list, "."), ", ") {
		if number, text, ok := strings.Cut(part, " "); ok && strings.Trim(number, "0123456789") == "" {
			part = text
		}
		reasons = append(reasons, part)
	}
	return reasons
}

// Tables are how often each kind of change was made, and each reason given.
func (f Figures) Tables() string {
	var text strings.Builder
	for _, table := range []struct {
		head   string
		counts map[string]int
	}{{"changes of the clusters", f.Changes}, {"pods that wait, by kube-scheduler's reasons", f.Reasons}} {
		fmt.Fprintln(&text, table.head)
		for _, row := range slices.Sorted(maps.Keys(table.counts)) {
			fmt.Fprintf(&text, "%8d  %s\n", table.counts[row], row)
		}
	}
	return text.String()
}
