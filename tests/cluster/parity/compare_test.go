package parity

import (
	"reflect"
	"testing"
)

func TestDifferences(t *testing.T) {
	fits := Verdict{Code: "Success"}
	full := Verdict{Code: "Unschedulable", Plugin: "NodeResourcesFit", Reasons: []string{"Too many pods"}}
	narrowed := Verdict{Code: "UnschedulableAndUnresolvable"}
	unresolvable := Verdict{Code: "UnschedulableAndUnresolvable", Plugin: "NodeAffinity", Reasons: []string{"no"}}
	answer := func(verdict Verdict, message string) Answer {
		return Answer{Verdicts: map[string]Verdict{"n": verdict}, Message: message}
	}
	for _, c := range []struct {
		name        string
		given, ours Answer
		want        []Difference
	}{
		{"the same", answer(full, "0/1"), answer(full, "0/1"), nil},
		{"another verdict", answer(fits, ""), answer(full, ""), []Difference{{Node: "n", Given: fits, Ours: full}}},
		{"another message", answer(full, "0/1"), answer(full, "0/2"), []Difference{{GivenText: "0/1", OursText: "0/2"}}},
		{"a message where a node fits", answer(fits, ""), answer(fits, "0/1"), []Difference{{OursText: "0/1"}}},
		{"narrowed: only the code counts, and the message is unknown", answer(narrowed, ""), answer(unresolvable, "0/1"), nil},
		{"narrowed, and another code", answer(narrowed, ""), answer(full, ""), []Difference{{Node: "n", Given: narrowed, Ours: full}}},
		{"a node that is not there", Answer{}, answer(fits, ""), []Difference{{Node: "n", Ours: fits}}},
		{"a node that we leave out", answer(fits, ""), Answer{}, []Difference{{Node: "n", Given: fits}}},
	} {
		if got := Differences(c.given, c.ours); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDifferencesOfPreemption(t *testing.T) {
	given := &Preemption{Best: []string{"a", "b"}, Victims: map[string][]string{"a": {"x/1"}, "b": {"x/2", "x/3"}, "c": {"x/4"}}}
	nobody := &Preemption{Best: []string{}, Victims: map[string][]string{}}
	choice := func(node string, pods ...string) *Preemption {
		return &Preemption{Best: []string{node}, Victims: map[string][]string{node: pods}}
	}
	for _, c := range []struct {
		name        string
		given, ours *Preemption
		same        bool
	}{
		{"not asked for", nil, choice("a"), true},
		{"one of the best", given, choice("b", "x/2", "x/3"), true},
		{"other victims", given, choice("b", "x/2"), false},
		{"a worse node", given, choice("c", "x/4"), false},
		{"nobody in vain", given, nobody, false},
		{"nobody", nobody, nobody, true},
		{"somebody instead of nobody", nobody, choice("a", "x/1"), false},
		{"no answer", given, nil, false},
	} {
		found := Differences(Answer{Preemption: c.given}, Answer{Preemption: c.ours})
		if (len(found) == 0) != c.same {
			t.Errorf("%s: got %v", c.name, found)
		}
		if len(found) == 1 && found[0].Kind() != "other victims" {
			t.Errorf("%s: got the kind %q", c.name, found[0].Kind())
		}
	}
}

func TestAgreement(t *testing.T) {
	fits := Verdict{Code: "Success"}
	spread := Verdict{Code: "Unschedulable", Plugin: "PodTopologySpread", Reasons: []string{"no"}}
	full := Verdict{Code: "Unschedulable", Plugin: "NodeResourcesFit", Reasons: []string{"Too many pods"}}
	of := func(a, b Verdict, message string) Answer {
		return Answer{Verdicts: map[string]Verdict{"a": a, "b": b}, Message: message}
	}
	scored := func(answer Answer, plugin string, score int64) Answer {
		answer.Scores = map[string]Scores{"a": {plugin: {Normalized: score, Weighted: 2 * score}}}
		return answer
	}
	cases := []*Case{{Answer: scored(of(fits, full, ""), "NodeAffinity", 7)}, {Answer: of(spread, full, "x")}, {Answer: of(full, full, "y")}}
	reply := Reply{Answers: []Answer{scored(of(fits, full, ""), "NodeAffinity", 7), of(fits, full, ""), of(full, fits, "")}, Differs: []bool{false, false, true},
		Tally: Tally{Agree: 1, Differ: 1, LeftOut: 1, MissingPlugins: []string{"PodTopologySpread"}}}
	got := NewAgreement()
	got.Add("mixed", cases, reply)
	want := &Agreement{
		Cases:    map[string]Count{"mixed": {Agree: 1, Differ: 1, LeftOut: 1}},
		Verdicts: map[string]Count{"(fits)": {Agree: 1}, "PodTopologySpread": {LeftOut: 1}, "NodeResourcesFit": {Agree: 3, Differ: 1}},
		Scores:   map[string]Count{"NodeAffinity": {Agree: 1}},
		Messages: Count{Differ: 1, LeftOut: 1}, Missing: map[string]bool{"PodTopologySpread": true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got.Join(want)
	if total := got.Total(); total != (Count{2, 2, 2}) {
		t.Errorf("the total of two: %+v", total)
	}
}

func TestScoresThatDiffer(t *testing.T) {
	answer := func(normalized, weighted int64) Answer {
		return Answer{Verdicts: map[string]Verdict{"a": {Code: "Success"}},
			Scores: map[string]Scores{"a": {"NodeAffinity": {Raw: normalized + 1, Normalized: normalized, Weighted: weighted}}}}
	}
	if found := Differences(answer(7, 14), answer(7, 14)); len(found) != 0 {
		t.Errorf("equal scores differ: %v", found)
	}
	for _, ours := range []Answer{answer(8, 14), answer(7, 16)} {
		found := Differences(answer(7, 14), ours)
		if len(found) != 1 || found[0].Kind() != "another score of NodeAffinity" {
			t.Errorf("got %v, want one difference of a score", found)
		}
	}
}
