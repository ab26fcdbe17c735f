package lockstep

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Answer is what became of a pod.
type Answer struct {
	Node    string // it is bound to; empty: it waits
	Reason  string // of the condition PodScheduled of one that waits; empty: nothing has happened to the pod in time
	Message string // of the same
}

func (a Answer) String() string {
	switch {
	case a.Node != "":
		return "bound to " + a.Node
	case a.Reason == "":
		return "no answer"
	}
	return fmt.Sprintf("waits, %s: %q", a.Reason, a.Message)
}

// answerOf reads it off a pod; no answer if there is none yet.
func answerOf(pod *corev1.Pod) Answer {
	if pod.Spec.NodeName != "" {
		return Answer{Node: pod.Spec.NodeName}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return Answer{Reason: c.Reason, Message: c.Message}
		}
	}
	return Answer{}
}

// Candidate is a node that gpu-scheduler would place a pod on.
type Candidate struct {
	Node       string
	TotalScore int64
}

// Best are the candidates with the highest score.
func Best(candidates []Candidate) []string {
	var best []string
	var highest int64
	for _, c := range candidates {
		if len(best) == 0 || c.TotalScore > highest {
			best, highest = nil, c.TotalScore
		}
		if c.TotalScore == highest {
			best = append(best, c.Node)
		}
	}
	return best
}

// Differences says where the answers to a pod differ, a line each. Scored: both schedulers score this pod by the same rules; otherwise
// kube-scheduler's node has to be any of the candidates.
func Differences(theirs, ours Answer, candidates []Candidate, scored bool) []string {
	var found []string
	differ := func(format string, arguments ...any) { found = append(found, fmt.Sprintf(format, arguments...)) }
	switch {
	case theirs.Node == "" && theirs.Reason == "" || ours.Node == "" && ours.Reason == "":
		differ("kube-scheduler: %v; gpu-scheduler: %v", theirs, ours)
	case (theirs.Node == "") != (ours.Node == ""):
		differ("placed at one side only: kube-scheduler: %v; gpu-scheduler: %v", theirs, ours)
	case theirs.Node == "":
		if theirs.Reason != ours.Reason {
			differ("reason: kube-scheduler %q, gpu-scheduler %q", theirs.Reason, ours.Reason)
		}
		if len(candidates) > 0 {
			differ("waits at both, and gpu-scheduler would place it on %v", candidates)
		}
		if sentence := Sentence(theirs.Message); !begins(ours.Message, sentence) {
			differ("message: kube-scheduler %q, gpu-scheduler %q", sentence, ours.Message)
		}
	default:
		if problem := notBest(theirs.Node, candidates, scored); problem != "" {
			differ("kube-scheduler took %s, and gpu-scheduler %s", theirs.Node, problem)
		}
		if problem := notBest(ours.Node, candidates, true); problem != "" {
			differ("gpu-scheduler took %s, and itself %s", ours.Node, problem)
		}
	}
	return found
}

// notBest says what the candidates have against a node; empty: nothing.
func notBest(node string, candidates []Candidate, scored bool) string {
	best := Best(candidates)
	at := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Node == node })
	switch {
	case at < 0:
		return fmt.Sprintf("would place it on none but %v", candidates)
	case scored && !slices.Contains(best, node):
		return fmt.Sprintf("scores that %d; its best: %v of %v", candidates[at].TotalScore, best, candidates)
	}
	return ""
}

// tail begins what kube-scheduler's PostFilter plugins, DynamicResources and DefaultPreemption, append to the sentence.
const tail = " no new claims to deallocate, preemption: "

// Sentence is kube-scheduler's message without what its PostFilter plugins say: that it did not preempt anything. A message without
// that end is left as it is.
func Sentence(message string) string {
	sentence, _, _ := strings.Cut(message, tail)
	return sentence
}

// begins says whether the message is the sentence, or goes on with details of its own after it.
func begins(message, sentence string) bool {
	rest, ok := strings.CutPrefix(message, sentence)
	return ok && sentence != "" && (rest == "" || rest[0] == ' ')
}
