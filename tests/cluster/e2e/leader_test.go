package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These tests run two replicas that elect a leader, and take the leadership from one of them in every way there is. The cluster is
// full all the time, so that one bind too many of a former leader gives a GPU twice. The lease is short, so that the tests do not wait for long,
// but not too short: if an overloaded API server does not answer its renewals, a leader gives up, as it should, and no test is about that
// machine. Of nine seconds an API server may stand still for three; E2E_LEASE sets another lease.

const (
	leaseName        = "gpu-scheduler" // in the namespace of that name, as in manifests/base
	leaseRetryPeriod = 500 * time.Millisecond
	exitLost         = 1 // the exit code of a leader that has lost the lease
)

var (
	leaseDuration      = 9 * time.Second
	leaseRenewDeadline = leaseDuration * 2 / 3
)

// setLease has leases of another length, in the same proportions.
func setLease(text string) (err error) {
	if leaseDuration, err = time.ParseDuration(text); err != nil || leaseDuration < 3*time.Second || leaseDuration%time.Second != 0 {
		return fmt.Errorf("E2E_LEASE=%q: want whole seconds, 3s at least", text)
	}
	leaseRenewDeadline = leaseDuration * 2 / 3
	return nil
}

// TestLeaderIsKilled ends the leader with SIGKILL: the other replica takes over when the lease has expired.
func TestLeaderIsKilled(t *testing.T) {
	e := newElection(t)
	leader, standby := e.startLeader(), e.startStandby()
	load := e.fill()
	leader.kill()
	since := time.Now()
	standby.waitLog("scheduling begins")
	standby.waitLog("bound pod=")
	t.Logf("%v from the leader's death to the next one's first bind, with a lease of %v", time.Since(since).Round(time.Millisecond), leaseDuration)
	load.wait()
	standby.check()
	e.w.expectAllBound(e.w.verdict())
}

// TestLeaderOfManyIsKilled does the same to a leader of many nodes and pods, and tells how long the next one takes beyond the lease. Full size only:
// at a smaller one there is nothing to see.
func TestLeaderOfManyIsKilled(t *testing.T) {
	if os.Getenv("E2E_FULL") != "1" {
		t.Skip("only at full size")
	}
	const nodes = 5000
	e := newElection(t)
	e.w.parallel(nodes, func(i int) { e.w.addNode(fixture.GPUNode(fmt.Sprintf("%s-%d", e.w.ns, i), fixture.L4, 8)) })
	leader, standby := e.startLeader(), e.startStandby()
	e.w.parallel(2*nodes-2, func(i int) { e.w.addPod(fmt.Sprintf("pod-%d", i), fixture.GPUs(4)) })
	e.w.waitBinds(2*nodes - 2)
	leader.kill()
	since := time.Now()
	e.w.addPod("after", fixture.GPUs(4))
	standby.waitLog("leading ")
	leads := time.Since(since)
	e.w.waitPod("after", "bound", bound)
	t.Logf("%d nodes, %d pods, a lease of %v: the next one led %v after the leader's death, and had bound %v after that",
		nodes, 2*nodes-2, leaseDuration, leads.Round(time.Millisecond), (time.Since(since) - leads).Round(time.Millisecond))
	standby.check()
	e.w.verdict()
}

// TestLeaderGivesBack ends the leader with SIGTERM: it settles its binds and gives the lease back, so the other one need not wait for its end.
func TestLeaderGivesBack(t *testing.T) {
	e := newElection(t)
	leader, standby := e.startLeader(), e.startStandby()
	load := e.fill()
	leader.process.Signal(syscall.SIGTERM)
	since := time.Now()
	leader.waitExit(0)
	leader.waitLog("gave the lease back")
	standby.waitLog("scheduling begins")
	t.Logf("%v from SIGTERM to the next leader's begin", time.Since(since).Round(time.Millisecond))
	load.wait()
	standby.check()
	e.w.expectAllBound(e.w.verdict())
	if transitions := e.lease().Spec.LeaseTransitions; transitions == nil || *transitions == 0 {
		t.Error("the lease does not say that its holder has changed")
	}
}

// TestLeaderGivesBackWhileStatusesFail ends a leader that cannot write why pods wait, a webhook on their statuses being down: it has time to give
// the lease back all the same, over a network that is no faster than others.
func TestLeaderGivesBackWhileStatusesFail(t *testing.T) {
	e := newElection(t)
	hook := e.w.startWebhook("pods/status", admissionregistrationv1.Update, (*webhook).refuse)
	network := newProxy(t, e.w.cluster.URL())
	leader, standby := e.startLeaderThrough(network), e.startStandby()
	pods := 0
	until(t, "statuses that cannot be written", func() bool {
		e.w.addPod(fmt.Sprintf("pod-%d", pods), fixture.GPUs(9))
		pods++
		return hook.calls() > 0
	})
	network.delay(30*time.Millisecond, 30*time.Millisecond)
	leader.process.Signal(syscall.SIGTERM)
	leader.waitExit(0)
	leader.waitLog("gave the lease back")
	hook.remove()
	standby.waitLog("scheduling begins")
	standby.check()
	e.w.verdict()
}

// TestStandbyWatchHangs has a standby follow the cluster by watches that hang, as those of an API server that has died with the leader: when it
// leads, it must notice by itself that it does not see what was bound, long before a watch that is silent is given up, two minutes.
func TestStandbyWatchHangs(t *testing.T) {
	e := newElection(t)
	network := newRelay(t)
	leader, standby := e.startLeader(), e.startReplica(network)
	standby.waitLog("standing by")
	standby.waitLog("synced")
	e.w.addGPUNodes(4)
	e.w.addPod("before", fixture.GPUs(8))
	e.w.waitBinds(1)
	network.stallWatches()
	for i := range 3 {
		e.w.addPod(fmt.Sprintf("unseen-%d", i), fixture.GPUs(8))
	}
	e.w.waitBinds(4)
	leader.kill()
	standby.waitLog("leading ")
	since := time.Now()
	standby.waitLog("scheduling begins")
	took := time.Since(since).Round(time.Millisecond)
	t.Logf("it began to schedule %v after it had begun to lead", took)
	if took > time.Minute {
		t.Errorf("it began to schedule only %v after it had begun to lead", took)
	}
	e.w.addPod("too-many", fixture.GPUs(1))
	e.w.waitRefused("too-many", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.")
	standby.check()
	e.w.verdict()
}

// TestLeaderIsStopped stops the leader in the middle of its binds for longer than the lease, and lets it go on while the next
// one is busy: it must find out before it sends anything.
func TestLeaderIsStopped(t *testing.T) {
	e := newElection(t)
	leader, standby := e.startLeader(), e.startStandby()
	load := e.fill()
	leader.process.Signal(syscall.SIGSTOP)
	standby.waitLog("bound pod=")
	told := len(leader.log())
	pending := e.w.podsThat(func(p *corev1.Pod) bool { return p.Spec.NodeName == "" })
	leader.process.Signal(syscall.SIGCONT)
	leader.waitExit(exitLost)
	leader.waitLog("leadership lost")
	// It may log binds that it had sent before, if it had not read their answers yet.
	for _, line := range bindLine.FindAllStringSubmatch(leader.log()[told:], -1) {
		if slices.Contains(pending, line[1]) {
			t.Errorf("it bound %s after it was stopped", line[1])
		}
	}
	load.wait()
	standby.check()
	e.w.expectAllBound(e.w.verdict())
}

// TestLeaderIsCutOff cuts the leader's network, in which some binds are under way: it must end by itself, before the other one begins or soon
// after. What it tries meanwhile is lost; what may land is TestLeaderBindsLate's.
func TestLeaderIsCutOff(t *testing.T) {
	e := newElection(t)
	network := newProxy(t, e.w.cluster.URL())
	leader, standby := e.startLeaderThrough(network), e.startStandby()
	load := e.fill()
	network.cut()
	leader.waitExit(exitLost)
	standby.waitLog("scheduling begins")
	network.heal()
	load.wait()
	standby.check()
	e.w.expectAllBound(e.w.verdict())
}

// TestLeaderIsSlow slows the leader's network down. While renewals are in time it goes on; when their answers come too late, it must give up.
func TestLeaderIsSlow(t *testing.T) {
	e := newElection(t)
	network := newProxy(t, e.w.cluster.URL())
	leader, standby := e.startLeaderThrough(network), e.startStandby()
	load := e.fill()
	slow := bindMargin() * 2 / 5
	network.delay(slow, slow)
	e.binds()
	leader.check()
	network.delay(slow, leaseDuration)
	leader.waitExit(exitLost)
	network.delay(0, 0)
	load.wait()
	standby.check()
	e.w.expectAllBound(e.w.verdict())
}

// TestLeaderBindsLate drops the renewals, and nothing else, of a leader that goes on binding, and holds each bind back for nearly as long as a bind may
// take. No bind may be sent so late that it could land when the next one leads, and none is. The leader may try to renew for nearly as long as
// the lease is valid, so that only the gate before its binds (bind_gate.h) ends them in time. That the gate leaves a margin is not
// shown here: the margin is shorter than what a busy machine may add between the leader and the relay (tests/scheduler/live/leadership/bind_gate_test.cc).
func TestLeaderBindsLate(t *testing.T) {
	e := newElection(t)
	e.renewDeadline = leaseDuration * 11 / 12
	network := newRelay(t)
	leader, standby := e.startLeaderThrough(network), e.startStandby()
	e.w.addGPUNodes(100)
	pods, longest := 0, time.Duration(0)
	feedWhile := func(what string, condition func() bool) { // there must be something to bind to the last
		longest = 0
		for end := time.Now().Add(waitLimit); condition(); pods++ {
			begin := time.Now()
			if begin.After(end) {
				t.Fatalf("%s still, after %v", what, waitLimit)
			}
			e.w.addPod(fmt.Sprintf("pod-%d", pods), fixture.GPUs(1))
			time.Sleep(25 * time.Millisecond)
			longest = max(longest, time.Since(begin))
		}
	}
	feedWhile("too few pods are bound", func() bool { return e.w.boundSoFar() < 20 })
	network.late(bindMargin() * 3 / 4)
	network.loseRenewals()
	feedWhile("a leader that cannot renew leads", leader.process.Running)
	leader.waitExit(exitLost)
	e.w.waitBinds(pods)
	standby.check()
	e.w.verdict()

	// Of this machine, between the leader and the relay: without the gate the leader would send for longer than that, and while nothing else here stood still.
	stall := leaseDuration/6 + longest
	lastToSend := leaseDuration*99/100 - bindDeadline() - bindMargin()
	nextLeads := e.lease().Spec.AcquireTime.Time
	renewed, binds := network.met()
	var last time.Duration
	for _, bind := range binds {
		last = max(last, bind.came.Sub(renewed))
		if bind.answered.IsZero() || bind.answered.After(nextLeads) {
			t.Errorf("a bind that was sent %v after the last renewal landed only when the next leader led, or later", bind.came.Sub(renewed))
		}
	}
	if last > lastToSend+bindMargin()+stall {
		t.Errorf("a bind was sent %v after the last renewal; %v is the latest", last, lastToSend)
	}
	if last < lastToSend/2 {
		t.Errorf("no bind was sent later than %v after the last renewal, so the test has shown nothing", last)
	}
	t.Logf("%d binds after the last renewal, the last of them %v after it, when %v is the latest; the next one led %v after it; the longest that a pod took to be made is %v",
		len(binds), last.Round(time.Millisecond), lastToSend, nextLeads.Sub(renewed).Round(time.Millisecond), longest.Round(time.Millisecond))
}

// bindDeadline and bindMargin are how long the server may work on a bind, and how long its way there may take, of a lease that is no longer than 15 s
// (bind_gate.cc).
func bindDeadline() time.Duration { return leaseDuration / 3 }
func bindMargin() time.Duration   { return leaseDuration / 15 }

// election is a world with replicas.
type election struct {
	w             *world
	renewDeadline time.Duration
	n             int // replicas so far
}

// network is one that a test can break; it makes a kubeconfig go through it.
type network interface{ kubeconfig(path string) string }

// newElection makes a world, and a lease that was given back: with a new lease the earlier leader is unknown, and a takeover takes time.
func newElection(t *testing.T) *election {
	t.Helper()
	if !isGPUScheduler() {
		t.Skip("another scheduler has another lease")
	}
	if _, err := lent(t).identity(); err != nil { // makes the namespace
		t.Fatal(err)
	}
	e := &election{w: newWorld(t), renewDeadline: leaseRenewDeadline}
	leases := e.w.cluster.Client().CoordinationV1().Leases(leaseName)
	nobody, second, now := "", int32(1), metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &nobody, LeaseDurationSeconds: &second, RenewTime: &now},
	}
	if err := leases.Delete(t.Context(), leaseName, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	e.w.must(leases.Create(t.Context(), lease, metav1.CreateOptions{}))
	return e
}

// fill starts a load that is more than the cluster can take, and returns when it is well under way.
func (e *election) fill() *load {
	e.w.t.Helper()
	pods := sizes.pods / 2
	nodes := max(4, pods/20)
	e.w.addGPUNodes(nodes)
	load := e.w.startLoad(pods, int64(nodes)*8)
	e.w.waitBinds(pods / 4)
	return load
}

// binds waits for one more bind.
func (e *election) binds() {
	e.w.t.Helper()
	e.w.catchUp()
	e.w.waitBinds(e.w.boundSoFar() + 1)
}

func (e *election) lease() *coordinationv1.Lease {
	e.w.t.Helper()
	lease, err := e.w.cluster.Client().CoordinationV1().Leases(leaseName).Get(e.w.t.Context(), leaseName, metav1.GetOptions{})
	e.w.must(lease, err)
	return lease
}

// replica is one of several scheduler processes.
type replica struct{ *subject }

// startLeader starts the first replica and waits until it leads.
func (e *election) startLeader() *replica { return e.startLeaderThrough(nil) }

// startLeaderThrough does the same with a network that the test can break; the other replicas have one that works.
func (e *election) startLeaderThrough(network network) *replica {
	e.w.t.Helper()
	r := e.startReplica(network)
	r.waitLog("scheduling begins")
	return r
}

// startStandby starts another replica and waits until it follows the leader and knows the cluster.
func (e *election) startStandby() *replica {
	e.w.t.Helper()
	r := e.startReplica(nil)
	r.waitLog("standing by")
	r.waitLog("synced")
	return r
}

// startReplica starts a replica with further arguments.
func (e *election) startReplica(network network, args ...string) *replica {
	e.w.t.Helper()
	return e.startProgram("", network, args...)
}

// startProgram starts a replica of another program than the one under test, unless its name is empty.
func (e *election) startProgram(program string, network network, args ...string) *replica {
	t := e.w.t
	t.Helper()
	e.n++
	// A log file of its own, also where the test is run twice.
	r := &replica{newSubject(t, fmt.Sprintf("-%s-%d", e.w.ns, e.n), func(with *setup) {
		if network != nil {
			with.kubeconfig = network.kubeconfig(with.kubeconfig)
		}
		with.args = append([]string{"--leader-elect=true",
			fmt.Sprintf("--leader-elect-lease-duration=%v", leaseDuration),
			fmt.Sprintf("--leader-elect-renew-deadline=%v", e.renewDeadline),
			fmt.Sprintf("--leader-elect-retry-period=%v", leaseRetryPeriod)}, args...)
	})}
	if program != "" {
		r.program = program
	}
	r.start()
	t.Cleanup(func() {
		r.process.Signal(syscall.SIGCONT) // where the test has given up
		r.stop()
		if t.Failed() {
			t.Logf("a scheduler's log is %s", r.keepLog())
		}
	})
	return r
}

// waitExit waits until the replica has ended by itself, with that code.
func (r *replica) waitExit(code int) {
	r.t.Helper()
	select {
	case <-r.process.Done():
	case <-time.After(waitLimit):
		r.t.Fatalf("the scheduler did not end; its log is %s", r.keepLog())
	}
	if got := controlplane.ExitCode(r.process.Wait()); got != code {
		r.t.Errorf("exit code %d, want %d; its log is %s", got, code, r.keepLog())
	}
}

// waitLog waits until the replica's log contains a text.
func (r *replica) waitLog(text string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), waitLimit)
	defer cancel()
	for !strings.Contains(r.log(), text) {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			r.t.Fatalf("no %q in the log, which is %s", text, r.keepLog())
		}
	}
}

// bindLine tells in the log of a bind; the pod's name is in it.
var bindLine = regexp.MustCompile(`(?m) bound pod=[^/ ]*/([^ ]*) `)

func (r *replica) log() string {
	r.t.Helper()
	content, err := os.ReadFile(r.process.Log)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(content)
}

// kubeconfig writes a copy of a kubeconfig that goes through the proxy.
func (p *proxy) kubeconfig(path string) string {
	p.t.Helper()
	return readdressed(p.t, path, p.target, "https://"+p.listener.Addr().String())
}

// readdressed writes a copy of a kubeconfig with another server.
func readdressed(t *testing.T, path, from, to string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(copied, []byte(strings.ReplaceAll(string(content), from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}
