package parity

import (
	"fmt"
	"maps"
	"slices"
)

// Difference is a node, a score of one, or the message, of which two answers to a case say different things.
type Difference struct {
	Node                  string // empty: the message
	Given, Ours           Verdict
	GivenText             string // of the message
	OursText              string
	Plugin                string // it is its score of the node; empty: it is the verdict, or the message
	GivenScore, OursScore Score
	GivenRoom, OursRoom   *Preemption // it is of preemption; nil: it is not
}

func (d Difference) String() string {
	if d.GivenRoom != nil {
		return fmt.Sprintf("preemption: kube-scheduler %v, ours %v", d.GivenRoom, d.OursRoom)
	}
	if d.Node == "" {
		return fmt.Sprintf("message: kube-scheduler %q, ours %q", d.GivenText, d.OursText)
	}
	if d.Plugin != "" {
		return fmt.Sprintf("%s: score of %s: kube-scheduler %v, ours %v", d.Node, d.Plugin, d.GivenScore, d.OursScore)
	}
	return fmt.Sprintf("%s: kube-scheduler %v, ours %v", d.Node, d.Given, d.Ours)
}

// Kind is what stays the same while a case is made smaller: which code of which plugin there is instead of which.
func (d Difference) Kind() string {
	if d.GivenRoom != nil {
		return "other victims"
	}
	if d.Node == "" {
		return "another message"
	}
	if d.Plugin != "" {
		return "another score of " + d.Plugin
	}
	given, ours := d.Given, d.Ours
	given.Reasons, ours.Reasons = nil, nil
	return fmt.Sprintf("kube-scheduler %v, ours %v", given, ours)
}

// Differences compares as bench verdicts does (bench/verdicts/compare.h): of a node that a PreFilter left out only the code counts, and an
// absent message is unknown unless some node fits.
func Differences(given, ours Answer) []Difference {
	var found []Difference
	fits := false
	for _, node := range slices.Sorted(maps.Keys(given.Verdicts)) {
		verdict, our := given.Verdicts[node], ours.Verdicts[node]
		fits = fits || verdict.Fits()
		if !agree(verdict, our) {
			found = append(found, Difference{Node: node, Given: verdict, Ours: our})
		}
	}
	for _, node := range slices.Sorted(maps.Keys(ours.Verdicts)) {
		if _, ok := given.Verdicts[node]; !ok {
			found = append(found, Difference{Node: node, Ours: ours.Verdicts[node]})
		}
	}
	for _, node := range slices.Sorted(maps.Keys(given.Scores)) {
		for _, plugin := range slices.Sorted(maps.Keys(ours.Scores[node])) {
			theirs, own := given.Scores[node][plugin], ours.Scores[node][plugin]
			if !theirs.counts(own) {
				found = append(found, Difference{Node: node, Plugin: plugin, GivenScore: theirs, OursScore: own})
			}
		}
	}
	if (given.Message != "" || fits) && given.Message != ours.Message {
		found = append(found, Difference{GivenText: given.Message, OursText: ours.Message})
	}
	if given.Preemption != nil && !given.Preemption.agrees(ours.Preemption) {
		found = append(found, Difference{GivenRoom: given.Preemption, OursRoom: ours.Preemption})
	}
	return found
}

func agree(given, ours Verdict) bool {
	if !given.Fits() && given.Plugin == "" {
		return given.Code == ours.Code
	}
	return given.Code == ours.Code && given.Plugin == ours.Plugin && slices.Equal(given.Reasons, ours.Reasons)
}

// Count is how often two answers were the same. Left out are differences that the program under test does not call one, since it cannot
// give such a verdict yet.
type Count struct{ Agree, Differ, LeftOut int }

func (c *Count) add(same, leftOut bool) {
	switch {
	case same:
		c.Agree++
	case leftOut:
		c.LeftOut++
	default:
		c.Differ++
	}
}

func (c *Count) join(other Count) {
	c.Agree += other.Agree
	c.Differ += other.Differ
	c.LeftOut += other.LeftOut
}

// Agreement sums up a run.
type Agreement struct {
	Cases    map[string]Count // by focus
	Verdicts map[string]Count // by the plugin that rejects in kube-scheduler's answer, or fits, or narrowed
	Scores   map[string]Count // by plugin, a node each
	Messages Count
	Evicts   Count           // of cases in which kube-scheduler evicts somebody
	Missing  map[string]bool // plugins that the program under test cannot answer for
}

// NewAgreement is of no case yet.
func NewAgreement() *Agreement {
	return &Agreement{Cases: map[string]Count{}, Verdicts: map[string]Count{}, Scores: map[string]Count{}, Missing: map[string]bool{}}
}

// Add counts cases of a focus; the reply is to them.
func (a *Agreement) Add(focus string, cases []*Case, reply Reply) {
	of := a.Cases[focus]
	of.join(Count{Agree: reply.Tally.Agree, Differ: reply.Tally.Differ, LeftOut: reply.Tally.LeftOut})
	a.Cases[focus] = of
	for _, plugin := range reply.Tally.MissingPlugins {
		a.Missing[plugin] = true
	}
	for i, c := range cases {
		ours := reply.Answers[i]
		leftOut := !reply.Differs[i]
		for node, verdict := range c.Verdicts {
			of := a.Verdicts[by(verdict)]
			of.add(agree(verdict, ours.Verdicts[node]), leftOut)
			a.Verdicts[by(verdict)] = of
		}
		for node, scores := range c.Scores {
			for plugin, score := range scores {
				own, ok := ours.Scores[node][plugin]
				of := a.Scores[plugin]
				of.add(ok && score.counts(own), leftOut || !ok)
				a.Scores[plugin] = of
			}
		}
		if c.Preemption != nil && len(c.Preemption.Best) > 0 {
			a.Evicts.add(c.Preemption.agrees(ours.Preemption), leftOut)
		}
		if c.Message != "" {
			a.Messages.add(c.Message == ours.Message, leftOut)
		}
	}
}

func by(verdict Verdict) string {
	switch {
	case verdict.Fits():
		return "(fits)"
	case verdict.Plugin == "":
		return "(narrowed by a PreFilter)"
	}
	return verdict.Plugin
}

// Join adds what another run has counted.
func (a *Agreement) Join(other *Agreement) {
	for focus, count := range other.Cases {
		of := a.Cases[focus]
		of.join(count)
		a.Cases[focus] = of
	}
	for plugin, count := range other.Verdicts {
		of := a.Verdicts[plugin]
		of.join(count)
		a.Verdicts[plugin] = of
	}
	for plugin, count := range other.Scores {
		of := a.Scores[plugin]
		of.join(count)
		a.Scores[plugin] = of
	}
	a.Messages.join(other.Messages)
	a.Evicts.join(other.Evicts)
	maps.Copy(a.Missing, other.Missing)
}

// Total is of all cases.
func (a *Agreement) Total() Count {
	var total Count
	for _, count := range a.Cases {
		total.join(count)
	}
	return total
}
