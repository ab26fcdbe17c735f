package lockstep

import (
	"slices"
	"strings"
	"testing"
)

const sentence = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable."

func waits(message string) Answer { return Answer{Reason: "Unschedulable", Message: message} }

func TestDifferences(t *testing.T) {
	theirMessage := sentence + tail + "not eligible due to preemptionPolicy=Never."
	candidates := []Candidate{{"a", 500}, {"b", 500}, {"c", 499}}
	for _, c := range []struct {
		name         string
		theirs, ours Answer
		candidates   []Candidate
		unscored     bool
		want         []string // a word of each difference
	}{
		{name: "the same node", theirs: Answer{Node: "a"}, ours: Answer{Node: "a"}, candidates: candidates},
		{name: "another node that scores the same", theirs: Answer{Node: "b"}, ours: Answer{Node: "a"}, candidates: candidates},
		{name: "a node that scores less", theirs: Answer{Node: "c"}, ours: Answer{Node: "a"}, candidates: candidates,
			want: []string{"kube-scheduler took c, and gpu-scheduler scores that 499"}},
		{name: "a node that does not take it", theirs: Answer{Node: "d"}, ours: Answer{Node: "a"}, candidates: candidates,
			want: []string{"kube-scheduler took d, and gpu-scheduler would place it on none but"}},
		{name: "not its own best", theirs: Answer{Node: "a"}, ours: Answer{Node: "c"}, candidates: candidates,
			want: []string{"gpu-scheduler took c, and itself scores that 499"}},
		{name: "no candidates", theirs: Answer{Node: "a"}, ours: Answer{Node: "a"},
			want: []string{"kube-scheduler took a", "gpu-scheduler took a"}},
		{name: "scores are not comparable", theirs: Answer{Node: "c"}, ours: Answer{Node: "a"}, candidates: candidates, unscored: true},
		{name: "scores are not comparable, and the node does not take it", theirs: Answer{Node: "d"}, ours: Answer{Node: "a"}, candidates: candidates, unscored: true,
			want: []string{"kube-scheduler took d"}},
		{name: "scores are not comparable, and not its own best", theirs: Answer{Node: "c"}, ours: Answer{Node: "c"}, candidates: candidates, unscored: true,
			want: []string{"gpu-scheduler took c"}},
		{name: "placed at theirs only", theirs: Answer{Node: "a"}, ours: waits(sentence), candidates: candidates, want: []string{"placed at one side only"}},
		{name: "placed at ours only", theirs: waits(theirMessage), ours: Answer{Node: "a"}, candidates: candidates, want: []string{"placed at one side only"}},
		{name: "the same message", theirs: waits(theirMessage), ours: waits(sentence)},
		{name: "the same message, and details", theirs: waits(theirMessage), ours: waits(sentence + " cpu: asked 4 of 3.")},
		{name: "it would be placed", theirs: waits(theirMessage), ours: waits(sentence), candidates: candidates, want: []string{"waits at both, and"}},
		{name: "another message", theirs: waits(theirMessage), ours: waits(strings.Replace(sentence, "1 I", "2 I", 1)), want: []string{"message: "}},
		{name: "a message that only begins alike", theirs: waits("0/3 nodes are available: 1 Insufficient cpu"), ours: waits(sentence), want: []string{"message: "}},
		{name: "no message", theirs: waits(""), ours: waits(""), want: []string{"message: "}},
		{name: "another reason", theirs: waits(theirMessage), ours: Answer{Reason: "GpuQuotaExceeded", Message: sentence}, want: []string{"reason: "}},
		{name: "no answer of ours", theirs: Answer{Node: "a"}, candidates: candidates, want: []string{"gpu-scheduler: no answer"}},
		{name: "no answer of theirs", ours: waits(sentence), want: []string{"kube-scheduler: no answer"}},
		{name: "no answer at all", want: []string{"no answer"}},
	} {
		got := Differences(c.theirs, c.ours, c.candidates, !c.unscored)
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSentence(t *testing.T) {
	for message, want := range map[string]string{
		sentence: sentence,
		sentence + " no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.":             sentence,
		sentence + " no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found.": sentence,
		sentence + " preemption: not eligible due to preemptionPolicy=Never.":                                          sentence + " preemption: not eligible due to preemptionPolicy=Never.",
		"0/1 nodes are available: pod affinity terms conflict. no new claims to deallocate, preemption: not eligible.": "0/1 nodes are available: pod affinity terms conflict.",
		"no nodes available to schedule pods": "no nodes available to schedule pods",
		"":                                    "",
	} {
		if got := Sentence(message); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

func TestBest(t *testing.T) {
	for _, c := range []struct {
		candidates []Candidate
		want       []string
	}{
		{nil, nil},
		{[]Candidate{{"a", 0}}, []string{"a"}},
		{[]Candidate{{"a", -3}, {"b", -2}}, []string{"b"}},
		{[]Candidate{{"a", 7}, {"b", 3}, {"c", 7}}, []string{"a", "c"}},
	} {
		if got := Best(c.candidates); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.candidates, got, c.want)
		}
	}
}
