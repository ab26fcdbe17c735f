package lockstep

import (
	"slices"
	"testing"
)

func TestFiguresErr(t *testing.T) {
	for _, c := range []struct {
		name    string
		figures Figures
		fails   bool
	}{
		{"nothing was compared", Figures{}, true},
		{"something differs", Figures{Pods: 9, Differences: 1}, true},
		{"nothing differs", Figures{Pods: 9}, false},
	} {
		if err := c.figures.Err(); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestFiguresCount(t *testing.T) {
	f := newFigures()
	f.count(&asked{wish: barrierPod("waits"), theirs: waits(sentence)})
	f.count(&asked{wish: barrierPod("placed"), theirs: Answer{Node: "a"}, candidates: []Candidate{{"a", 1}, {"b", 0}}})
	f.count(&asked{wish: barrierPod("tie"), theirs: Answer{Node: "a"}, candidates: []Candidate{{"a", 1}, {"b", 1}}})
	if f.Pods != 3 || f.Waiting != 1 || f.Placed != 2 || f.Ties != 1 || f.Reasons["Insufficient cpu"] != 1 {
		t.Errorf("%+v", f)
	}
}

func TestReasonsOf(t *testing.T) {
	for sentence, want := range map[string][]string{
		sentence: {"Insufficient cpu", "node(s) were unschedulable"},
		"0/1 nodes are available: pod affinity terms conflict.": {"pod affinity terms conflict"},
	} {
		if got := reasonsOf(sentence); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", sentence, got, want)
		}
	}
}
