package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/history"
)

// plane is a control plane with what is shared about it. A test has it to itself: nodes, quotas and leases belong to the whole
// cluster, and a test may stop the API server.
type plane struct {
	cluster  *controlplane.ControlPlane
	recorder *history.Recorder
	// identity is the scheduler's user for the API server. What it needs there is applied when it is first asked for.
	identity func() (controlplane.Identity, error)
}

// startPlane starts one, with its data and logs in a directory.
func startPlane(ctx context.Context, dir string) (*plane, error) {
	return startPlaneWith(ctx, controlplane.Options{Dir: dir})
}

func startPlaneWith(ctx context.Context, options controlplane.Options) (*plane, error) {
	options.AuditBinds = true
	cluster, err := controlplane.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	p := &plane{cluster: cluster, identity: sync.OnceValues(func() (controlplane.Identity, error) { return schedulerIdentity(cluster) })}
	p.recorder = history.Record(cluster.Etcd(), history.Options{Schedulers: []string{schedulerName, naiveName}, Attempts: cluster.AuditLog()})
	cluster.BeforeCompact, cluster.Outage = p.recorder.Wait, p.recorder.Blind
	return p, nil
}

func (p *plane) stop() error {
	defer p.recorder.Close()
	return p.cluster.Stop()
}

// pool lends control planes to tests, which then run beside each other: they wait for leases, back-off and processes far more than they
// compute. Planes are started when they are asked for, up to a limit, and used by one test after the other. One that a failed
// test had is stopped: no test inherits what another left undone.
type pool struct {
	ctx   context.Context // of the run
	dir   string          // of the planes' directories
	limit int             // of planes at a time

	mu      sync.Mutex
	started int // so far; numbers the directories
	live    int // there now, or being started
	idle    []*plane
	lent    map[*testing.T]*plane
	waiting []*request // the first to be served, first
}

// request is a test that waits for a plane.
type request struct {
	t       *testing.T
	granted chan error
}

// planes is the run's pool.
var planes *pool

// newPool starts nothing yet. What an earlier run left in the directory is removed.
func newPool(ctx context.Context, dir string) (*pool, error) {
	earlier, err := filepath.Glob(filepath.Join(dir, "plane-*"))
	if err != nil {
		return nil, err
	}
	for _, stale := range earlier {
		if err := os.RemoveAll(stale); err != nil {
			return nil, err
		}
	}
	return &pool{ctx: ctx, dir: dir, limit: sizes.planes, lent: map[*testing.T]*plane{}}, nil
}

// lent is the control plane of a test, its alone until it ends. The first call makes the test run beside others, and waits until there
// is one. Subtests use what their parent has got from it.
func lent(t *testing.T) *plane {
	t.Helper()
	if p := planes.lentTo(t); p != nil {
		return p
	}
	t.Parallel()
	p, err := planes.borrow(t)
	if err != nil {
		t.Fatalf("no control plane: %v", err)
	}
	since := time.Now()
	t.Cleanup(func() {
		t.Logf("%.1f s on %s", time.Since(since).Seconds(), filepath.Base(p.cluster.Dir()))
		if err := planes.giveBack(t, p); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (o *pool) lentTo(t *testing.T) *plane {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lent[t]
}

// borrow waits for a plane.
func (o *pool) borrow(t *testing.T) (*plane, error) {
	r := &request{t: t, granted: make(chan error, 1)}
	o.mu.Lock()
	o.waiting = append(o.waiting, r)
	slices.SortStableFunc(o.waiting, func(a, b *request) int { return rank(a.t.Name()) - rank(b.t.Name()) })
	o.serve()
	o.mu.Unlock()
	err := <-r.granted
	return o.lentTo(t), err
}

// giveBack ends a loan.
func (o *pool) giveBack(t *testing.T, p *plane) (err error) {
	failed := t.Failed()
	if failed {
		err = p.stop()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.lent, t)
	if failed {
		o.live--
	} else {
		o.idle = append(o.idle, p)
	}
	o.serve()
	return err
}

// own lends a test a plane that is none of the pool's, but counts as one.
func (o *pool) own(t *testing.T, p *plane) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live++
	o.lent[t] = p
}

// disown stops such a plane.
func (o *pool) disown(t *testing.T, p *plane) error {
	err := p.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.live--
	delete(o.lent, t)
	o.serve()
	return err
}

// serve gives idle planes to the requests that wait, and starts more where there are too few. The pool is locked.
func (o *pool) serve() {
	for len(o.waiting) > 0 && len(o.idle) > 0 {
		o.lent[o.waiting[0].t] = o.idle[0]
		o.idle = o.idle[1:]
		o.answer(nil)
	}
	beingStarted := o.live - len(o.idle) - len(o.lent)
	for ; beingStarted < len(o.waiting) && o.live < o.limit; beingStarted++ {
		o.live++
		o.started++
		go o.start(filepath.Join(o.dir, fmt.Sprintf("plane-%d", o.started)))
	}
}

// answer answers the first request that waits. The pool is locked.
func (o *pool) answer(err error) {
	o.waiting[0].granted <- err
	o.waiting = o.waiting[1:]
}

func (o *pool) start(dir string) {
	p, err := startPlane(o.ctx, dir)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.idle = append(o.idle, p)
	} else if o.live--; len(o.waiting) > 0 {
		o.answer(err)
	}
	o.serve()
}

// stop ends all planes.
func (o *pool) stop() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limit = 0
	all := o.idle
	for _, p := range o.lent { // only where the run was interrupted
		all = append(all, p)
	}
	var failures []error
	for _, p := range all {
		failures = append(failures, p.stop())
	}
	return errors.Join(failures...)
}

// removeStores removes what the etcds of stopped planes have written, more than a gigabyte in all. The logs stay.
func (o *pool) removeStores() error {
	stores, err := filepath.Glob(filepath.Join(o.dir, "plane-*", "etcd"))
	if err != nil {
		return err
	}
	for _, store := range stores {
		if err := os.RemoveAll(store); err != nil {
			return err
		}
	}
	return nil
}

// long are the tests that take longest, the longest first. They are given control planes before others, so that a run does not end with one
// of them alone.
func long() []func(*testing.T) {
	return []func(*testing.T){
		TestQuotasKilledUnderLoad,
		TestKilledUnderLoad,
		TestFaults,
		TestEtcdTroubleUnderLoad,
		TestFaultsOnCpprestsdk,
		TestLeadersAmongFaults,
		TestRulesUnderChurn,
		TestPastIsForgottenUnderLoad,
		TestAPIServerGoesAway,
		TestPastIsForgotten,
		TestTransportOnCpprestsdk,
		TestQuotaAfterARestart,
		TestRestartKnowsBlackHoles,
		TestQuotaDefinitionComesAndGoes,
		TestQuotasChangeUnderLoad,
	}
}

// nameOf is a test's name.
func nameOf(test func(*testing.T)) string {
	full := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return full[strings.LastIndex(full, ".")+1:]
}

// rank is a test's place in the order in which planes are given.
func rank(test string) int {
	tests := long()
	if at := slices.IndexFunc(tests, func(one func(*testing.T)) bool { return nameOf(one) == test }); at >= 0 {
		return at
	}
	return len(tests)
}

func TestLongTestsAreKnownByName(t *testing.T) {
	if first, other := rank("TestQuotasKilledUnderLoad"), rank(t.Name()); first != 0 || other != len(long()) {
		t.Errorf("ranks %d and %d", first, other)
	}
}
