package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// The keys under which the API server stores what is recorded. All, and everything between, are read as one range, so that
// their changes come in one order.
const (
	quotaPrefix     = "/registry/gpu-scheduler.io/gpuquotas/"
	nodePrefix      = "/registry/minions/"
	namespacePrefix = "/registry/namespaces/"
	podPrefix       = "/registry/pods/"
	rangeEnd        = "/registry/pods0" // the first key after all pods
)

// Recorder reads the history from the API server's store, from the first revision on, and judges it as it goes. It reads the store and not
// the API, because a watch of the API may skip revisions: when the server restarts, or when the past is
// compacted away. The store skips nothing, and if it has forgotten, it says so.
type Recorder struct {
	cancel context.CancelFunc
	done   chan struct{}
	ticks  chan struct{} // closed when no more are written
	clock  stoppableClock

	mu      sync.Mutex
	judge   *Judge
	tried   attemptLog
	seen    int64 // all revisions up to this have been judged
	gap     error
	changed chan struct{} // closed and replaced at each change
}

// Record starts recording. Call it before any pod exists; what was compacted away before is a gap.
func Record(client *clientv3.Client, options Options) *Recorder {
	ctx, cancel := context.WithCancel(context.Background()) // a store that has no leader for a moment has lost nothing
	r := &Recorder{cancel: cancel, done: make(chan struct{}), ticks: make(chan struct{}), judge: NewJudge(options), changed: make(chan struct{})}
	r.tried.path = options.Attempts
	responses := client.Watch(ctx, quotaPrefix, clientv3.WithRange(rangeEnd), clientv3.WithRev(1))
	go func() {
		defer close(r.ticks)
		r.clock.tick(ctx, client)
	}()
	go r.run(ctx, responses)
	return r
}

// Close ends the recording. Reports can still be asked for.
func (r *Recorder) Close() {
	r.cancel()
	<-r.done
	<-r.ticks
}

func (r *Recorder) run(ctx context.Context, responses clientv3.WatchChan) {
	defer close(r.done)
	for response := range responses {
		r.mu.Lock()
		if err := response.Err(); err != nil && ctx.Err() == nil {
			r.gap = fmt.Errorf("after revision %d: %w (compacted at %d)", r.seen, err, response.CompactRevision)
		}
		for _, e := range response.Events {
			r.take(e)
		}
		r.seen = max(r.seen, response.Header.Revision)
		r.announce()
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil && r.gap == nil {
		r.gap = fmt.Errorf("the watch of the store ended after revision %d", r.seen)
	}
	r.announce()
}

// Blind says that from now on (true), and no longer (false), no scheduler can see what happens, because the API server is away. Such
// time does not count towards the window within which what others did explains a violation.
func (r *Recorder) Blind(blind bool) {
	if blind {
		r.clock.stop(time.Now())
	} else {
		r.clock.start(time.Now())
	}
}

// Late says that from now on what happens may take so long to reach a scheduler, where that is more than the usual window. 0: as usual.
func (r *Recorder) Late(most time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge.late = most
}

// Killed says that a scheduler was killed, when all is recorded that happened before: it is unknown which binds it had decided and not sent.
func (r *Recorder) Killed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge.Killed()
}

func (r *Recorder) take(e *clientv3.Event) {
	event, err := decode(e)
	switch {
	case err != nil:
		r.gap = errors.Join(r.gap, err)
	case event != nil:
		r.judge.Apply(*event)
	}
}

func (r *Recorder) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// decode reads an object as the API server wrote it, in the storage version v1, custom resources as JSON. Keys of other kinds give nil.
func decode(e *clientv3.Event) (*Event, error) {
	key := string(e.Kv.Key)
	event := &Event{Revision: e.Kv.ModRevision}
	switch {
	case key == clockKey:
		event.Kind, event.Tick = ClockKind, decodeTime(e.Kv.Value)
		return event, nil
	case strings.HasPrefix(key, podPrefix):
		event.Kind, event.Key = PodKind, strings.TrimPrefix(key, podPrefix)
	case strings.HasPrefix(key, nodePrefix):
		event.Kind, event.Key = NodeKind, strings.TrimPrefix(key, nodePrefix)
	case strings.HasPrefix(key, namespacePrefix):
		event.Kind, event.Key = NamespaceKind, strings.TrimPrefix(key, namespacePrefix)
	case strings.HasPrefix(key, quotaPrefix):
		event.Kind, event.Key = QuotaKind, strings.TrimPrefix(key, quotaPrefix)
	default:
		return nil, nil
	}
	if e.Type == clientv3.EventTypeDelete {
		return event, nil
	}
	if event.Kind == QuotaKind {
		event.Quota = &GpuQuota{}
		if err := json.Unmarshal(e.Kv.Value, event.Quota); err != nil {
			return nil, fmt.Errorf("decode %s at revision %d: %w", key, e.Kv.ModRevision, err)
		}
		return event, nil
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(e.Kv.Value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decode %s at revision %d: %w", key, e.Kv.ModRevision, err)
	}
	event.Pod, _ = object.(*corev1.Pod)
	event.Node, _ = object.(*corev1.Node)
	event.Namespace, _ = object.(*corev1.Namespace)
	return event, nil
}

// Wait returns once every revision up to the given one has been judged. The revision must be one that is in the recorded range: write a marker there to get
// one (controlplane.Mark).
func (r *Recorder) Wait(ctx context.Context, revision int64) error {
	return r.WaitFor(ctx, func(seen int64, _ *Judge) bool { return seen >= revision })
}

// WaitFor returns once the condition holds. It is called with the recorder locked, at most every few milliseconds, when something
// has changed.
func (r *Recorder) WaitFor(ctx context.Context, condition func(seen int64, j *Judge) bool) error {
	for {
		r.mu.Lock()
		ok, gap, changed := condition(r.seen, r.judge), r.gap, r.changed
		r.mu.Unlock()
		if ok {
			return nil
		}
		if gap != nil {
			return fmt.Errorf("history: %w", gap)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		time.Sleep(5 * time.Millisecond) // let more changes gather: the condition may be dear
	}
}

// Settle waits until no pod of the namespaces (none given: all) is lost or stuck, and returns the report. It gives up when nothing
// has moved for the given patience: no pod created, bound, told or removed, no node changed.
func (r *Recorder) Settle(ctx context.Context, patience time.Duration, namespaces ...string) Report {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	last := int64(-1)
	for {
		r.mu.Lock()
		progress, changed, settled := r.judge.progress, r.changed, r.gap != nil
		if r.judge.lost(namespaces) == 0 {
			report := r.judge.Report(namespaces...)
			settled = settled || len(report.Stuck) == 0
		}
		r.mu.Unlock()
		if progress != last {
			last = progress
			deadline.Reset(patience)
		}
		if settled {
			return r.Report(namespaces...)
		}
		select {
		case <-changed:
			time.Sleep(20 * time.Millisecond) // let more changes gather
		case <-deadline.C:
			return r.Report(namespaces...)
		case <-ctx.Done():
			return r.Report(namespaces...)
		}
	}
}

// DefaultQuota tells the judge, from now on, what the scheduler's configuration says of namespaces that no quota claims.
func (r *Recorder) DefaultQuota(defaultQuota string, namespaces ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, namespace := range namespaces {
		r.judge.DefaultQuota(namespace, defaultQuota)
	}
}

// Report judges what has been seen so far, for the pods in the namespaces given, or for all.
func (r *Recorder) Report(namespaces ...string) Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readAttempts()
	report := r.judge.Report(namespaces...)
	if r.gap != nil {
		report.Gap = r.gap.Error()
	}
	if r.tried.path != "" && report.Attempts == 0 && report.Binds > 0 {
		report.Gap = strings.TrimSpace(report.Gap + " pods were bound, and the log of what was tried, " + r.tried.path + ", has nothing")
	}
	return report
}

// Tried tells whether a request to bind a pod, which need not exist, has been seen in the log of what was tried. The log is written in order,
// about when a request is answered: so if a request of the test's own is in it, all that were answered before are in it.
func (r *Recorder) Tried(pod string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readAttempts()
	return r.judge.marks[pod]
}

// readAttempts judges what the log has more than before. The recorder is locked.
func (r *Recorder) readAttempts() {
	if r.tried.path == "" {
		return
	}
	attempts, err := r.tried.read()
	r.gap = errors.Join(r.gap, err)
	for _, a := range attempts {
		r.judge.tried(a)
	}
}
