package lockstep

import (
	"context"
)

const (
	stays      = .6 // of the pods that wait stay so many while the cluster changes
	mostRounds = 6  // of changes, after which they go
)

// waits goes on with a pod that waits at both. Some stay while the cluster changes, a change at a time, and after each must have started at both or at neither.
// Every other change is of a kind that may let it start.
func (r *run) waits(ctx context.Context, a *asked) error {
	if r.random.Float64() < stays {
		r.figures.Stayed++
		for range mostRounds {
			what, err := r.change(ctx, [][]change{openings(), changes()}[r.random.IntN(2)])
			if err != nil {
				return err
			}
			r.note("%s: %s", keyOf(a.wish), what)
			a.while, a.imagesChanged = what, r.imagesChanged
			if err := r.passBarrier(ctx); err != nil {
				return err
			}
			r.figures.Rounds++
			if done, err := r.afterChange(ctx, a); done || err != nil {
				return err
			}
		}
	}
	return r.both(func(o *side) error { return o.remove(ctx, a.wish.Namespace, a.wish.Name) })
}

// afterChange compares what the two do after a change. Done: the pod waits no more.
func (r *run) afterChange(ctx context.Context, a *asked) (done bool, err error) {
	if err := r.settle(ctx, a); err != nil {
		return false, err
	}
	if a.theirs.Node == "" && a.ours.Node == "" && len(a.candidates) == 0 {
		return false, nil // their messages are as of their last tries, which need not be the same
	}
	r.note("pod %s then: %v; %v", keyOf(a.wish), a.theirs, a.ours)
	if a.theirs.Node == "" {
		if err := r.tryAgain(ctx, a); err != nil {
			return false, err
		}
	}
	if a.theirs.Node != "" {
		r.figures.Started++
	}
	return true, r.judge(ctx, a)
}

// settle waits until both have done what the change makes them do.
func (r *run) settle(ctx context.Context, a *asked) (err error) {
	if a.theirs, err = r.theirs.settled(ctx, a.theirPod); err != nil {
		return err
	}
	if a.candidates, err = r.ours.candidates(ctx, a.ourPod); err != nil {
		return err
	}
	will := func(Answer) bool { return true }
	if len(a.candidates) > 0 || a.theirs.Node != "" {
		will = bound
	}
	a.ours, err = r.ours.await(ctx, a.ourPod, will)
	return err
}

// tryAgain creates the pod again for kube-scheduler, which has not tried it after a change that lets it start: its hints are not complete. If it
// starts then, the two agree about the pod, and it is counted how often that was needed.
func (r *run) tryAgain(ctx context.Context, a *asked) error {
	if err := r.theirs.remove(ctx, a.wish.Namespace, a.wish.Name); err != nil {
		return err
	}
	pod, err := r.theirs.create(ctx, a.wish)
	if err != nil {
		return err
	}
	a.theirPod = pod
	if a.theirs, err = r.theirs.await(ctx, pod, answered); err != nil {
		return err
	}
	if a.theirs.Node != "" {
		r.figures.NotTried++
		r.note("pod %s was created again for kube-scheduler, which had not tried it again", keyOf(a.wish))
	}
	return nil
}
