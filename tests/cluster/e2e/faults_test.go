package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/faults"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// recoveryLimit is how soon after the end of a fault pods are bound again: a back-off or two.
const recoveryLimit = 15 * time.Second

// TestFaults has a proxy between scheduler and API server that does to them what networks and servers in trouble do (package faults). First
// it rains: any request may meet any fault, while pods come and go and nodes change. Then come storms, in which every request meets
// the same. After each the scheduler has to be itself again within seconds, and in the end the history must be clean. While a storm lasts, it says
// what is wrong once and not at each request.
func TestFaults(t *testing.T) {
	f := newFaultTest(t)
	f.recovers("calm")
	f.rain()
	for _, kind := range f.storms() {
		f.storm(kind)
	}
	f.s.check()
	f.w.verdict(explained(f.pods/3, history.NodeChange)) // a watch of nodes that is held up for seconds costs a wave
	counts := f.proxy.Counts()
	t.Logf("%v", counts)
	if missing := counts.Missing(); len(missing) > 0 {
		t.Errorf("kinds that did not come: %v", missing)
	}
	if n := f.proxy.Trapped(); n > 0 {
		t.Errorf("%d times a redirect was followed: credentials went to a stranger", n)
	}
	if n := f.proxy.Misled(); n > 0 {
		t.Errorf("%d requests went out on a connection with an answer nobody had asked for", n)
	}
}

// faultTest is a world behind a fault proxy, with nodes that change.
type faultTest struct {
	w      *world
	proxy  *faults.Proxy
	s      *subject
	churn  *churn
	pods   int // so far
	probes int
}

func newFaultTest(t *testing.T) *faultTest {
	t.Helper()
	f := &faultTest{w: newWorld(t)}
	f.churn = &churn{w: f.w, nodes: f.w.addGPUNodes(8)}
	for i := range impossiblePods {
		f.w.addPod(fmt.Sprintf("impossible-%d", i), fixture.GPUs(9))
	}
	f.s = startSubject(t, func(with *setup) {
		f.proxy = startFaultProxy(t, with.kubeconfig)
		with.kubeconfig = f.proxyKubeconfig(with.kubeconfig)
	})
	return f
}

func startFaultProxy(t *testing.T, kubeconfig string) *faults.Proxy {
	t.Helper()
	upstream, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, err := lent(t).cluster.ServingCertificates()
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faults.Start(faults.Options{Upstream: upstream, Certificate: right, Wrong: wrong, Seed: sizes.seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}

func (f *faultTest) proxyKubeconfig(path string) string {
	t := f.w.t
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(copied, []byte(strings.ReplaceAll(string(content), f.w.cluster.URL(), f.proxy.URL())), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

// rain lets single faults befall a mixed load until there have been enough, and of each kind one. What others do meanwhile
// may be seen later than usual, but no later than the scheduler may take to recover.
func (f *faultTest) rain() {
	f.w.recorder.Late(recoveryLimit)
	defer f.w.recorder.Late(0)
	f.proxy.Set(faults.Weather{Rate: 0.2, WatchRate: 0.8, WatchLife: time.Second, Kinds: faults.All()})
	f.proxy.Cut() // the watches too are in it
	for !f.w.t.Failed() {
		f.wave()
		if counts := f.proxy.Counts(); counts.Total() >= sizes.faults && len(counts.Missing()) == 0 {
			break
		}
	}
	f.w.t.Logf("rain: %v, problems logged %v", f.proxy.Counts(), problems(f.log()))
	f.proxy.Set(faults.Calm())
	f.churn.restore()
	f.recovers("rain")
}

// wave makes pods, changes nodes, waits until most of the pods have been bound or refused, and makes room.
func (f *faultTest) wave() {
	const size = 20
	w := f.w
	first := f.pods
	w.parallel(size, func(i int) { w.addPod(podNumber(first+i), fixture.GPUs([]int64{1, 1, 1, 2, 4}[i%5])) })
	f.pods += size
	f.churn.changeNode(f.churn.nodes[w.random.IntN(len(f.churn.nodes))])
	w.putBack(f.churn.nodes[w.random.IntN(len(f.churn.nodes))])
	w.catchUp()
	w.waitFor("most of a wave to be bound or refused", func(j *history.Judge) bool {
		settled := 0
		for i := range size {
			if p := j.Pod(w.ns + "/" + podNumber(first+i)); p == nil || bound(p) || condition(p) != nil {
				settled++
			}
		}
		return settled*4 >= size*3
	})
	running := w.boundPods()
	for _, name := range running[:len(running)*2/3] {
		f.churn.endPod(name)
	}
	f.takeAway(first-2*size, size)
}

// takeAway deletes the pods that still wait, of those with the numbers given. First each must have been told why it waits: one that nobody
// had noticed would leave no trace.
func (f *faultTest) takeAway(first, count int) {
	w := f.w
	for i := max(0, first); i < first+count; i++ {
		w.waitFor(podNumber(i)+" to be bound or told why it is not", func(j *history.Judge) bool { return j.Answered(w.ns + "/" + podNumber(i)) })
	}
	waiting := w.podsThat(func(p *corev1.Pod) bool { return !bound(p) })
	w.parallel(count, func(i int) {
		if name := podNumber(first + i); slices.Contains(waiting, name) {
			w.deletePod(name)
		}
	})
}

func podNumber(i int) string { return fmt.Sprintf("pod-%05d", i) }

// storms are those that there is time for.
func (f *faultTest) storms() []faults.Kind {
	if os.Getenv("E2E_FULL") == "1" {
		return faults.All()
	}
	return []faults.Kind{faults.Unavailable, faults.WrongCertificate}
}

// storm lets every request meet the same fault, beginning with the end of all connections, until it has come often enough.
func (f *faultTest) storm(kind faults.Kind) {
	w := f.w
	for _, name := range w.boundPods() {
		w.deletePod(name) // there is room
	}
	before, said := f.proxy.Counts()[kind], len(f.log())
	// First calls alone, so that the scheduler sees pods and tries to bind them; then watches too.
	f.proxy.Set(faults.Weather{Rate: 1, Kinds: []faults.Kind{kind}})
	for range 10 {
		w.addPod(podNumber(f.pods), fixture.GPUs(1))
		f.pods++
	}
	if kind != faults.WrongCertificate && kind != faults.StalledWatch {
		f.waitCount(kind, before+stormSize/2)
	}
	f.proxy.Set(faults.Storm(kind))
	f.proxy.Cut()
	f.waitCount(kind, before+stormSize)
	told := problems(f.log()[said:])
	f.proxy.Set(faults.Calm())
	f.recovers(kind.String())
	w.t.Logf("storm of %v: %d faults, problems logged %v", kind, f.proxy.Counts()[kind]-before, told)
	for what, lines := range told {
		if lines > linesPerStorm {
			w.t.Errorf("a storm of %v: %d lines in the log about %s", kind, lines, what)
		}
	}
}

const (
	stormSize = 10 // faults
	// A storm is a cause, the connections cut at its begin another one, and what is found when they are opened again may be a third.
	linesPerStorm = 3
)

// waitCount waits until there have been so many faults of a kind.
func (f *faultTest) waitCount(kind faults.Kind, count int) {
	t := f.w.t
	t.Helper()
	for end := time.Now().Add(time.Minute); f.proxy.Counts()[kind] < count; {
		if time.Now().After(end) || t.Context().Err() != nil {
			t.Fatalf("%d of %d faults of kind %v; the scheduler's log is %s", f.proxy.Counts()[kind], count, kind, f.s.keepLog())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// recovers waits until a new pod is on a new node, which takes watches of both and a bind, and says how long that took after what.
func (f *faultTest) recovers(after string) {
	w := f.w
	w.t.Helper()
	f.probes++
	name := fmt.Sprintf("probe-%d", f.probes)
	since := time.Now()
	w.addNode(fixture.GPUNode(w.ns+"-"+name, fixture.L4, 1, fixture.Label("e2e/probe", name), fixture.Tainted())) // for the probe alone
	w.addPod(name, fixture.GPUs(1), fixture.On("e2e/probe", name), fixture.ToleratesGPUTaint())
	w.waitPod(name, "bound", func(p *corev1.Pod) bool { return bound(p) })
	took := time.Since(since)
	w.t.Logf("a pod on a new node %v after %s", took.Round(time.Millisecond), after)
	if took > recoveryLimit && after != "calm" {
		w.t.Errorf("recovery from %s took %v", after, took)
	}
}

func (f *faultTest) log() string {
	f.w.t.Helper()
	content, err := os.ReadFile(f.s.process.Log)
	if err != nil {
		f.w.t.Fatal(err)
	}
	return string(content)
}

// problemLine tells of trouble with the API server, and with what.
var problemLine = regexp.MustCompile(`(?m) problem what=("[^"]*"|[^ ]*) `)

// problems counts the lines about trouble by what is troubled.
func problems(log string) map[string]int {
	counts := map[string]int{}
	for _, line := range problemLine.FindAllStringSubmatch(log, -1) {
		counts[strings.Trim(line[1], `"`)]++
	}
	return counts
}
