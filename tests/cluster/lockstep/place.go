package lockstep

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const lowest = "lockstep-lowest"

// priorities are classes of pods that preempt nothing. A pod that names none is of the middle one.
func priorities() (classes []schedulingv1.PriorityClass) {
	never := corev1.PreemptNever
	for name, value := range map[string]int32{lowest: -1_000_000, "low": -10, "middle": 0, "high": 1000} {
		classes = append(classes, schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
			GlobalDefault: name == "middle", PreemptionPolicy: &never})
	}
	return classes
}

// asked is a pod that both schedulers have answered.
type asked struct {
	wish             *corev1.Pod // as it is created
	theirPod, ourPod *corev1.Pod // as they are stored
	theirs, ours     Answer
	candidates       []Candidate // by ours; nil if it is placed nowhere
	while            string      // what has changed while it waited; empty: it is new
	imagesChanged    bool        // that changed how many nodes have an image, and kube-scheduler may have decided by the number before (heartbeats)
}

// scored says whether the two score it by the same rules and the same numbers.
func (a *asked) scored() bool { return a.wish.Spec.Resources == nil && !a.imagesChanged }

func (a *asked) differences() []string {
	return Differences(a.theirs, a.ours, a.candidates, a.scored())
}

// onePod changes the clusters, has both schedulers decide about a new pod, and compares.
func (r *run) onePod(ctx context.Context) error {
	if err := r.churn(ctx); err != nil {
		return err
	}
	if r.unseen {
		if err := r.passBarrier(ctx); err != nil {
			return err
		}
	}
	wish, err := r.draw.Pod(fmt.Sprintf("pod-%05d", r.step))
	if err != nil {
		return err
	}
	wish.Spec.SchedulerName = schedulerName
	wish.Spec.PriorityClassName = []string{"", "", "low", "high"}[r.random.IntN(4)]
	a, err := r.ask(ctx, &wish)
	if err != nil {
		return err
	}
	r.note("pod %s: %v; %v", keyOf(&wish), a.theirs, a.ours)
	r.figures.count(a)
	if a.theirs.Node == "" && a.ours.Node == "" && len(a.differences()) == 0 {
		return r.waits(ctx, a)
	}
	return r.judge(ctx, a)
}

// ask creates the pod at both and waits for both answers.
func (r *run) ask(ctx context.Context, wish *corev1.Pod) (*asked, error) {
	a := &asked{wish: wish}
	err := r.both(func(o *side) error {
		pod, err := o.create(ctx, wish)
		if err != nil {
			return err
		}
		answer, err := o.await(ctx, pod, answered)
		if o == r.theirs.side {
			a.theirPod, a.theirs = pod, answer
		} else {
			a.ourPod, a.ours = pod, answer
		}
		return err
	})
	if err == nil && (a.theirs.Node != "" || a.ours.Node != "") {
		a.candidates, err = r.ours.candidates(ctx, a.ourPod)
	}
	return a, err
}

// judge reports what differs, and makes one choice that of both: where the two agree, any of the best nodes, drawn; otherwise kube-scheduler's.
func (r *run) judge(ctx context.Context, a *asked) error {
	found := a.differences()
	if len(found) == 0 {
		best := Best(a.candidates)
		slices.Sort(best)
		return r.align(ctx, a, best[r.random.IntN(len(best))])
	}
	r.figures.Differences++
	if err := r.report(ctx, a, found); err != nil {
		return err
	}
	return r.align(ctx, a, a.theirs.Node)
}

// align has the pod be on that node at both. With none, it goes.
func (r *run) align(ctx context.Context, a *asked, node string) error {
	there := a.wish.DeepCopy()
	there.Spec.NodeName = node
	if node != "" {
		r.model.pods = append(r.model.pods, placed{namespace: a.wish.Namespace, name: a.wish.Name, node: node})
	}
	return r.both(func(o *side) error {
		answer := a.ours
		if o == r.theirs.side {
			answer = a.theirs
		}
		if node != "" && node == answer.Node {
			return nil
		}
		err := o.remove(ctx, a.wish.Namespace, a.wish.Name)
		if err == nil && node != "" {
			_, err = o.create(ctx, there)
		}
		return err
	})
}

// isTie says whether several nodes score as the best one.
func (a *asked) isTie() bool {
	best := Best(a.candidates)
	return len(best) > 1 && slices.Contains(best, a.theirs.Node)
}
