package e2e

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/faults"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"
)

// TestLeadersAmongFaults has a fault proxy before each of two replicas. First single faults meet both: a leader that cannot renew the lease in time
// gives up, and is started anew as by a Deployment. Then storms meet the leader. If no renewal succeeds it must give up, and the other one must take
// over; in the other storms it must stay leader. The cluster is full all the time, and only the leader may bind: all binds of one process are before
// or after all binds of another.
func TestLeadersAmongFaults(t *testing.T) {
	leaseFaults, storms := 15, []faults.Kind{faults.LostAnswer, faults.DoubledRequest}
	if os.Getenv("E2E_FULL") == "1" {
		leaseFaults, storms = 150, []faults.Kind{
			faults.Unauthorized, faults.Forbidden, faults.TooManyRequests, faults.InternalError, faults.Unavailable, faults.Silence,
			faults.LostAnswer, faults.FalseError, faults.DoubledRequest, faults.DoubledAnswer,
		}
	}
	f := newShakyElection(t)
	f.rain(leaseFaults)
	for _, kind := range storms {
		f.storm(kind)
	}
	f.w.verdict()
	f.expectOneAtATime()
	t.Logf("%d processes, %d waves, %d requests to bind; leases met %v", len(f.all), f.waves, len(f.asked.processes), f.leaseFaults())
}

// shakyElection is an election of replicas behind fault proxies.
type shakyElection struct {
	*election
	weather  faults.Weather // for the next one
	replicas []*shakyReplica
	all      []*shakyReplica // those that have ended too
	asked    askLog
	waves    int
}

// shakyReplica is a replica and its network.
type shakyReplica struct {
	*replica
	number int // of the process
	asked  *askLog
	proxy  *faults.Proxy
}

func (r *shakyReplica) kubeconfig(path string) (through string) {
	r.proxy, through = startFaultProxy(r.asked.t, path, sizes.seed+uint64(r.number), r)
	return through
}

// NodesShown and BindAsked make it the Witness of its proxy.
func (r *shakyReplica) NodesShown(int64)         {}
func (r *shakyReplica) BindAsked(string, string) { r.asked.add(r.number) }

// askLog is which process asked for binds, in order.
type askLog struct {
	t         *testing.T
	mu        sync.Mutex
	processes []int
}

func (a *askLog) add(process int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.processes = append(a.processes, process)
}

func newShakyElection(t *testing.T) *shakyElection {
	t.Helper()
	f := &shakyElection{election: newElection(t)}
	f.asked.t = t
	f.w.addGPUNodes(4)
	f.start()
	f.replicas[0].waitLog("scheduling begins")
	f.start()
	f.replicas[1].waitLog("synced")
	f.wave()
	return f
}

// start starts one more replica, behind a proxy of its own.
func (f *shakyElection) start() {
	f.w.t.Helper()
	r := &shakyReplica{number: len(f.all), asked: &f.asked}
	r.replica = f.startReplica(r)
	r.proxy.Set(f.weather)
	f.replicas, f.all = append(f.replicas, r), append(f.all, r)
}

// tend starts a replica for each that has given up. Nothing else may end one.
func (f *shakyElection) tend() {
	f.w.t.Helper()
	for i := 0; i < len(f.replicas); i++ {
		r := f.replicas[i]
		if r.process.Running() {
			continue
		}
		if code := controlplane.ExitCode(r.process.Wait()); code != exitLost || !strings.Contains(r.log(), "leadership lost") {
			f.w.t.Fatalf("a scheduler ended with code %d; its log is %s", code, r.keepLog())
		}
		f.replicas = append(f.replicas[:i], f.replicas[i+1:]...)
		i--
		f.start()
	}
}

// until waits for a condition, and tends the replicas meanwhile.
func (f *shakyElection) until(what string, condition func() bool) {
	f.w.t.Helper()
	for end := time.Now().Add(waitLimit); !condition(); time.Sleep(20 * time.Millisecond) {
		if f.tend(); time.Now().After(end) {
			f.w.t.Fatalf("not within %v: %s; the schedulers' logs are %s and %s", waitLimit, what, f.replicas[0].keepLog(), f.replicas[1].keepLog())
		}
	}
}

// wave makes pods for which there is room only when those of the last wave go, and waits until all are bound.
func (f *shakyElection) wave() {
	const size = 20 // 28 GPUs of 32: wherever the others are, one or two are free together for the last pod
	w := f.w
	w.t.Helper()
	name := func(wave, i int) string { return fmt.Sprintf("pod-%d-%d", wave, i) }
	w.parallel(size, func(i int) { w.addPod(name(f.waves, i), fixture.GPUs([]int64{1, 1, 1, 2, 2}[i%5])) })
	if f.waves > 0 {
		w.parallel(size, func(i int) { w.deletePod(name(f.waves-1, i)) })
	}
	f.until("a wave to be bound", func() bool {
		return size == w.read(func(j *history.Judge) (n int) {
			for i := range size {
				if p := j.Pod(w.ns + "/" + name(f.waves, i)); p != nil && bound(p) {
					n++
				}
			}
			return n
		})
	})
	f.waves++
}

func (f *shakyElection) setWeather(weather faults.Weather) {
	f.weather = weather
	for _, r := range f.replicas {
		r.proxy.Set(weather)
	}
}

// rain lets faults befall both replicas, until leases have met enough of them.
func (f *shakyElection) rain(enough int) {
	f.setWeather(faults.Weather{Rate: 0.2, WatchRate: 0.4, WatchLife: 2 * time.Second, MostInARow: 3, Kinds: faults.All()})
	for f.wave(); f.leaseFaults().Total() < enough; {
		f.wave()
	}
	f.w.t.Logf("rain: %d processes, %d waves; leases met %v", len(f.all), f.waves, f.leaseFaults())
	f.setWeather(faults.Calm())
	f.wave()
}

// storm comes over the leader alone.
func (f *shakyElection) storm(kind faults.Kind) {
	t := f.w.t
	leader := f.leader()
	before := onLeases(leader.proxy, kind)
	leader.proxy.Set(faults.Storm(kind))
	leader.proxy.Cut()
	if kind == faults.DoubledRequest || kind == faults.DoubledAnswer {
		const renewals = 20 // which take longer than a leader lives without one
		f.until("renewals", func() bool { return onLeases(leader.proxy, kind) >= before+renewals })
		leader.check()
		leader.proxy.Set(faults.Calm())
	} else {
		leader.waitExit(exitLost)
		if onLeases(leader.proxy, kind) == before {
			t.Errorf("%v did not befall the lease", kind)
		}
	}
	since := time.Now()
	f.wave()
	t.Logf("storm of %v: pods bound %v later", kind, time.Since(since).Round(time.Millisecond))
}

// leader waits for one.
func (f *shakyElection) leader() (leader *shakyReplica) {
	f.w.t.Helper()
	f.until("a leader", func() bool {
		for _, r := range f.replicas {
			if strings.Contains(r.log(), "scheduling begins") && r.process.Running() {
				leader = r
			}
		}
		return leader != nil
	})
	return leader
}

// onLeases is how many requests for a lease have met a kind.
func onLeases(proxy *faults.Proxy, kind faults.Kind) int {
	met := proxy.Met(kind)
	return met["get leases"] + met["create leases"] + met["update leases"]
}

func (f *shakyElection) leaseFaults() (counts faults.Counts) {
	for _, r := range f.all {
		for _, kind := range faults.All() {
			counts[kind] += onLeases(r.proxy, kind)
		}
	}
	return counts
}

// expectOneAtATime fails the test if a process asked for a bind before and after another one.
func (f *shakyElection) expectOneAtATime() {
	f.w.t.Helper()
	f.asked.mu.Lock()
	defer f.asked.mu.Unlock()
	ended, last := map[int]bool{}, -1
	for i, process := range f.asked.processes {
		if process == last {
			continue
		}
		if ended[last] = true; ended[process] {
			f.w.t.Errorf("process %d asks for a bind (the %dth) after %d has: two at a time", process, i, last)
		}
		last = process
	}
	if len(ended) < 2 {
		f.w.t.Error("nobody took over")
	}
}
