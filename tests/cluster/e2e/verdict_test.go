package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Every test ends with a verdict. It states what the test had others do: where only the scheduler did anything, nothing may be explained, and
// there are no other binds.

// expectation is one of a verdict.
type expectation func(*expected)

type expected struct {
	namespaces []string
	explained  map[history.Excuse]int // the most of each
	foreign    int                    // the most binds of others
}

// of adds the pods of other namespaces.
func of(beside ...*world) expectation {
	return func(e *expected) {
		for _, w := range beside {
			e.namespaces = append(e.namespaces, w.ns)
		}
	}
}

// explained allows so many violations that have an excuse. Without it there may be none.
func explained(most int, by ...history.Excuse) expectation {
	return func(e *expected) {
		for _, excuse := range by {
			e.explained[excuse] = most
		}
	}
}

// othersBind allows so many binds that are not the scheduler's. Without it there may be none: a pod that names another scheduler is not its to bind.
func othersBind(most int) expectation { return func(e *expected) { e.foreign = most } }

// verdict waits until no pod is lost, for as long as something moves and then for the patience that a lost pod is granted, and
// fails the test if the history is not clean, or not as expected. It is on the pods of this namespace and of those that are added.
func (w *world) verdict(with ...expectation) history.Report {
	w.t.Helper()
	w.catchUp()
	want := w.expect(with...)
	w.recorder.Settle(w.t.Context(), sizes.patience, want.namespaces...)
	w.catchUpWithAttempts()
	report := w.recorder.Report(want.namespaces...)
	if err := w.judge(report, want); err != nil {
		w.t.Error(err)
	} else {
		w.t.Logf("verdict: clean\n%s", report)
	}
	return report
}

// attemptMarks are made so that none is taken for another.
var attemptMarks atomic.Int64

// catchUpWithAttempts returns when the recorder has seen all requests to bind that were answered so far, by trying to bind a pod that there is not.
func (w *world) catchUpWithAttempts() {
	w.t.Helper()
	mark := fmt.Sprintf("mark-%d", attemptMarks.Add(1))
	nowhere := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: mark}, Target: corev1.ObjectReference{Kind: "Node", Name: "nowhere"}}
	w.persist(func(ctx context.Context) error {
		err := w.client.CoreV1().Pods(w.ns).Bind(ctx, nowhere, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return nil // as it must be
		}
		return fmt.Errorf("bind %s, which there is not: %w", mark, err)
	})
	for end := time.Now().Add(waitLimit); !w.recorder.Tried(w.ns + "/" + mark); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("an attempt to bind is not in the API server's audit log after %v", waitLimit)
		}
	}
}

// allowForLateness has what others do excuse a bind for as long as one may take to land (history.Options.UnderWay), until the test ends: on a
// machine that is busy it may be as long on its way, and so may be what the scheduler is to see.
func (w *world) allowForLateness() {
	w.recorder.Late(5 * time.Second)
	w.t.Cleanup(func() { w.recorder.Late(0) })
}

// waitNoNews returns when what was done to nodes, quotas and running pods so far excuses nothing any more.
func (w *world) waitNoNews() {
	w.t.Helper()
	w.catchUp()
	w.waitFor("what was done to be no news any more", (*history.Judge).Unexcused)
}

func (w *world) expect(with ...expectation) expected {
	want := expected{namespaces: []string{w.ns}, explained: map[history.Excuse]int{history.NodeChange: w.byNodesThatWere}}
	for _, expect := range with {
		expect(&want)
	}
	return want
}

// judge says all that is wrong with a report, or not as expected; nil if nothing is.
func (w *world) judge(report history.Report, want expected) error {
	wrong := []error{report.Err()}
	for excuse, count := range report.Excuses {
		if count > want.explained[excuse] {
			wrong = append(wrong, fmt.Errorf("%d binds broke a rule and have the excuse %q; %d may\n%s", count, excuse, want.explained[excuse], report))
		}
	}
	if foreign := report.ForeignBinds - w.foreign; foreign > want.foreign {
		wrong = append(wrong, fmt.Errorf("%d pods were bound that are not the scheduler's; others bind %d\n%s", foreign, want.foreign, report))
	}
	return errors.Join(wrong...)
}
