package parity

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	schedcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// Scheduler answers cases with kube-scheduler's own framework and plugins: the default profile without DynamicResources. What the profile's
// plugins read is swapped from case to case, so one Scheduler answers one case at a time. A case with arguments for plugins gets a framework of
// its own.
type Scheduler struct {
	Scores bool // answers have scores, too

	store     *store
	snapshot  *snapshot
	framework framework.Framework
	scorers   []scorer
	made      map[string]fwk.Plugin // by name
}

// snapshot is the lister that the plugins hold on to, whichever case it shows.
type snapshot struct{ fwk.SharedLister }

// NewScheduler makes one. It holds goroutines until ctx is done.
func NewScheduler(ctx context.Context) (*Scheduler, error) { return newScheduler(ctx, nil) }

func newScheduler(ctx context.Context, args []configv1.PluginConfig) (*Scheduler, error) {
	metrics.Register()
	profile, err := profileWith(args)
	if err != nil {
		return nil, err
	}
	s := &Scheduler{store: newStore(), snapshot: &snapshot{schedcache.NewEmptySnapshot()}}
	made := map[string]fwk.Plugin{}
	s.framework, err = runtime.NewFramework(ctx, captured(plugins.NewInTreeRegistry(), made), profile,
		runtime.WithClientSet(s.store.client),
		runtime.WithInformerFactory(s.store.factory),
		runtime.WithSnapshotSharedLister(s.snapshot),
		runtime.WithPodNominator(nobodyNominated{}),
		runtime.WithSharedDRAManager(noDeviceClass{}),
		runtime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(s.store.factory.Storage().V1().CSINodes().Lister())),
		runtime.WithParallelism(1))
	if err != nil {
		return nil, fmt.Errorf("kube-scheduler's framework: %w", err)
	}
	s.made = made
	return s, s.findScorers(made)
}

// PreemptionFocus is the focus of cases that also ask who would be evicted.
const PreemptionFocus = "preemption"

// Answer gives what kube-scheduler says of the case's pod, whatever answer the case has. An error is one of a plugin: kube-scheduler
// would try the pod again.
func (s *Scheduler) Answer(ctx context.Context, c *Case) (Answer, error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	s, err := s.withArgs(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	nodes, err := s.show(c)
	if err != nil {
		return Answer{}, err
	}
	a, err := s.filter(ctx, c, nodes)
	if err == nil && s.Scores && len(a.fits) > 0 {
		a.answer.Scores, err = s.score(ctx, &c.Pod, a)
	}
	if err == nil && c.Focus == PreemptionFocus && len(a.fits) == 0 && a.answer.PreFilter == nil {
		a.answer.Preemption, err = s.preempt(ctx, c, nodes, a)
	}
	return a.answer, err
}

// withArgs is the Scheduler for the arguments of the case, until ctx is done.
func (s *Scheduler) withArgs(ctx context.Context, c *Case) (*Scheduler, error) {
	if len(c.PluginConfig) == 0 {
		return s, nil
	}
	made, err := newScheduler(ctx, c.PluginConfig)
	if err == nil {
		made.Scores = s.Scores
	}
	return made, err
}

// show puts the case before the plugins and gives its nodes.
func (s *Scheduler) show(c *Case) ([]fwk.NodeInfo, error) {
	if err := s.store.put(c); err != nil {
		return nil, err
	}
	nodes := make([]*corev1.Node, len(c.Nodes))
	known := sets.New[string]()
	for i := range c.Nodes {
		nodes[i] = &c.Nodes[i]
		known.Insert(nodes[i].Name)
	}
	// kube-scheduler does not watch pods that have finished, and its snapshot has no nodes that are gone.
	var pods []*corev1.Pod
	for i := range c.Pods {
		pod := &c.Pods[i]
		finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if !finished && known.Has(pod.Spec.NodeName) {
			pods = append(pods, pod)
		}
	}
	s.snapshot.SharedLister = schedcache.NewSnapshot(pods, nodes)
	return s.snapshot.NodeInfos().List()
}

// asked is a case half-way: what the filters said, and what the scores go on with.
type asked struct {
	answer Answer
	state  fwk.CycleState
	fits   []fwk.NodeInfo // sorted by name
}

// filter does what findNodesThatFitPod of kube-scheduler's schedule_one.go does, without its stop at enough nodes.
func (s *Scheduler) filter(ctx context.Context, c *Case, nodes []fwk.NodeInfo) (asked, error) {
	state := framework.NewCycleState()
	a := asked{state: state, answer: Answer{Verdicts: map[string]Verdict{}}}
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	narrowed, status, _ := s.framework.RunPreFilterPlugins(ctx, state, &c.Pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return a, status.AsError()
		}
		verdict := toVerdict(status)
		a.answer.PreFilter = &verdict
		for _, node := range nodes {
			a.answer.Verdicts[node.Node().Name] = verdict
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		a.answer.Message = fitError(c, diagnosis)
		return a, nil
	}
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].Node().Name < nodes[j].Node().Name })
	for _, node := range nodes {
		name := node.Node().Name
		if !narrowed.AllNodes() && !narrowed.NodeNames.Has(name) {
			a.answer.Verdicts[name] = Verdict{Code: fwk.UnschedulableAndUnresolvable.String()}
			continue
		}
		status := s.framework.RunFilterPlugins(ctx, state, &c.Pod, node)
		if !status.IsSuccess() && !status.IsRejected() {
			return a, status.AsError()
		}
		a.answer.Verdicts[name] = toVerdict(status)
		if status.IsSuccess() {
			a.fits = append(a.fits, node)
		} else {
			diagnosis.NodeToStatus.Set(name, status)
		}
	}
	if len(a.fits) == 0 && narrowed.AllNodes() {
		a.answer.Message = fitError(c, diagnosis)
	}
	return a, nil
}

func toVerdict(status *fwk.Status) Verdict {
	verdict := Verdict{Code: status.Code().String()}
	if !status.IsSuccess() {
		verdict.Plugin = status.Plugin()
		verdict.Reasons = append(verdict.Reasons, status.Reasons()...)
		sort.Strings(verdict.Reasons)
	}
	return verdict
}

func fitError(c *Case, diagnosis framework.Diagnosis) string {
	if len(c.Nodes) == 0 {
		return "no nodes available to schedule pods" // ErrNoNodesAvailable of kube-scheduler
	}
	failure := framework.FitError{Pod: &c.Pod, NumAllNodes: len(c.Nodes), Diagnosis: diagnosis}
	return strings.TrimSpace(failure.Error())
}
