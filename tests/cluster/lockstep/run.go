package lockstep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"gpu-scheduler.io/tests/cluster/parity/draw"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Settings of a run. All but Bin are required.
type Settings struct {
	Pods      int
	Seed      uint64
	Nodes     int    // at the begin; about as many stay
	Scheduler string // gpu-scheduler's program
	Policy    string // its configuration
	Manifests string // the kustomization that deploys it, for its account and rights
	Dir       string // for data and logs
	Keep      string // for the cases that differ, and steps.log
	Bin       string // of the control plane; empty: where build.sh leaves it
	Most      int    // differences, after which the run ends
	Out       io.Writer
}

// run is a run under way.
type run struct {
	Settings
	theirs theirs
	ours   ours
	draw   *draw.Live
	random *rand.Rand // of what changes, and when
	model  model
	steps  io.Writer

	step          int // the pod that is compared
	barriers      int
	unseen        bool // nodes or namespaces have changed since the last barrier
	imagesChanged bool // the number of nodes that have an image may have, too
	figures       Figures
}

// Run compares and gives the figures; an error is something that kept it from comparing.
func Run(ctx context.Context, s Settings) (Figures, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps, err := createSteps(s.Keep)
	if err != nil {
		return Figures{}, err
	}
	defer steps.Close()
	r := &run{Settings: s, draw: draw.NewLive(s.Seed), random: rand.New(rand.NewPCG(s.Seed, 1)), steps: steps, figures: newFigures()}
	defer r.stop()
	if err := r.start(ctx); err != nil {
		return r.figures, err
	}
	for r.step = 1; r.step <= s.Pods && r.figures.Differences < s.Most; r.step++ {
		if err := r.onePod(ctx); err != nil {
			return r.figures, fmt.Errorf("seed %d, step %d: %w", s.Seed, r.step, err)
		}
		if r.step%500 == 0 {
			fmt.Fprintln(s.Out, r.figures)
		}
	}
	if err := r.sameClusters(ctx, ""); err != nil {
		return r.figures, err
	}
	return r.figures, r.end()
}

// both does something at both sides at a time.
func (r *run) both(what func(*side) error) error {
	other := make(chan error, 1)
	go func() { other <- what(r.theirs.side) }()
	return errors.Join(what(r.ours.side), <-other)
}

// start starts the API servers, makes the first objects, and then starts the schedulers.
func (r *run) start(ctx context.Context) error {
	r.theirs.side, r.ours.side = &side{name: "kube-scheduler"}, &side{name: "gpu-scheduler"}
	if err := r.both(func(o *side) error { return o.start(ctx, r.Settings) }); err != nil {
		return err
	}
	if err := r.firstObjects(ctx); err != nil {
		return err
	}
	if err := errors.Join(r.theirs.schedule(ctx), r.ours.schedule(ctx, r.Settings)); err != nil {
		return err
	}
	return r.passBarrier(ctx)
}

func (r *run) firstObjects(ctx context.Context) error {
	namespaces := append(r.draw.Namespaces(), corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: barrier}})
	err := r.both(func(o *side) error {
		for _, class := range priorities() {
			if _, err := o.client.SchedulingV1().PriorityClasses().Create(ctx, &class, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		for _, namespace := range namespaces {
			if err := o.ensureNamespace(ctx, &namespace); err != nil {
				return err
			}
		}
		if _, err := o.client.CoreV1().Nodes().Create(ctx, barrierNode(), metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err := o.create(ctx, anchor())
		return err
	})
	for range r.Nodes {
		if err == nil {
			_, err = r.makeNode(ctx)
		}
	}
	return err
}

// ensureNamespace makes it, or gives it its labels: that of the name default is there.
func (o *side) ensureNamespace(ctx context.Context, namespace *corev1.Namespace) error {
	if namespace.Name != metav1.NamespaceDefault {
		_, err := o.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		return err
	}
	return o.patchNamespace(ctx, namespace.Name, []operation{{"add", "/metadata/labels", namespace.Labels}})
}

// end stops gpu-scheduler, which must exit with code 0.
func (r *run) end() error {
	if err := r.ours.process.Stop(); err != nil {
		return err
	}
	if err := r.ours.process.Wait(); err != nil {
		return fmt.Errorf("gpu-scheduler ended badly after SIGTERM: %w; its log is %s", err, r.ours.process.Log)
	}
	return nil
}

func (r *run) stop() {
	for _, o := range []*side{r.theirs.side, r.ours.side} {
		if o != nil && o.cluster != nil {
			_ = o.cluster.Stop() // what did not end by itself was killed, and nothing depends on it
		}
	}
}
