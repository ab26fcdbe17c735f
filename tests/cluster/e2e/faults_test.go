package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/faults"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// recoveryLimit is how soon after the end of a fault pods are bound again: a back-off or two, of which a busy machine makes twice as much.
	recoveryLimit = 30 * time.Second
	// mostInARow is how often a watch meets a fault before it goes well once: for nothing that the test waits for does it take a minute.
	mostInARow = 5
)

// TestFaults has a proxy between scheduler and API server that does to them what networks and servers in trouble do (package faults). First
// it rains: any request may meet any fault, while pods come and go and nodes change. Then come storms, in which every request meets
// the same. After each the scheduler has to be itself again within seconds, and in the end the history must be clean. It says what is wrong once and not at
// each request. A bind is judged by what the proxy had shown of the nodes when it was first asked for.
func TestFaults(t *testing.T) {
	storms := []faults.Kind{faults.Unavailable, faults.WrongCertificate} // those that there is time for
	if os.Getenv("E2E_FULL") == "1" {
		storms = faults.All()
	}
	newFaultTest(t).run(func(c faults.Counts) bool { return c.Total() >= sizes.faults && len(c.Missing()) == 0 }, storms)
}

// TestFaultsOnCpprestsdk does some of this to the second transport.
func TestFaultsOnCpprestsdk(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("the field is gpu-scheduler's own")
	}
	storms := []faults.Kind{faults.LostAnswer}
	if os.Getenv("E2E_FULL") == "1" {
		storms = append(storms, faults.Silence, faults.Truncated, faults.WrongFraming, faults.WrongCertificate, faults.Redirect, faults.TooManyRequests)
	}
	f := newFaultTest(t, onCpprestsdk(t))
	f.limit = 2 * recoveryLimit // each connection costs it many times as much, and with sanitizers more
	f.run(func(c faults.Counts) bool { return c.Total() >= sizes.faults/4 }, storms)
}

// run has it rain until there have been enough faults, and then storms of these kinds.
func (f *faultTest) run(enough func(faults.Counts) bool, storms []faults.Kind) {
	t := f.w.t
	f.recovers("calm")
	f.rain(enough)
	for _, kind := range storms {
		f.storm(kind)
	}
	f.settles()
	f.s.check()
	// What is excused was not shown, each time. It is a tenth of the pods as a rule; a watch of nodes that is held up for long costs whole waves.
	f.w.verdict(explained(f.pods/2, history.NodeChange))
	t.Logf("%v", f.proxy.Counts())
	if n := f.proxy.Trapped(); n > 0 {
		t.Errorf("%d times a redirect was followed: credentials went to a stranger", n)
	}
	if n := f.proxy.Misled(); n > 0 {
		t.Errorf("%d requests went out on a connection with an answer nobody had asked for", n)
	}
}

// faultTest is a world behind a fault proxy, with nodes that change.
type faultTest struct {
	w       *world
	proxy   *faults.Proxy
	witness *history.Witness
	s       *subject
	churn   *churn
	limit   time.Duration // of a recovery
	pods    int           // so far
	probes  int
}

func newFaultTest(t *testing.T, changes ...func(*setup)) *faultTest {
	t.Helper()
	f := &faultTest{w: newWorld(t), limit: recoveryLimit}
	f.churn = &churn{w: f.w, nodes: f.w.addGPUNodes(8)}
	for i := range impossiblePods {
		f.w.addPod(fmt.Sprintf("impossible-%d", i), fixture.GPUs(9))
	}
	f.witness = f.w.recorder.Witness()
	t.Cleanup(f.witness.End)
	f.w.allowForLateness() // whatever passes the proxy waits for one thread of the scheduler, behind the handshakes of all connections that were cut
	f.s = startSubject(t, append(changes, func(with *setup) {
		f.proxy, with.kubeconfig = startFaultProxy(t, with.kubeconfig, sizes.seed, f.witness)
	})...)
	return f
}

// startFaultProxy starts one before the API server of a kubeconfig, and returns it with a kubeconfig that goes through it.
func startFaultProxy(t *testing.T, kubeconfig string, seed uint64, witness faults.Witness) (*faults.Proxy, string) {
	t.Helper()
	upstream, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, err := lent(t).cluster.ServingCertificates()
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faults.Start(faults.Options{Upstream: upstream, Certificate: right, Wrong: wrong, Seed: seed, Witness: witness})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	through := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(through, []byte(strings.ReplaceAll(string(content), upstream.Host, proxy.URL())), 0o600); err != nil {
		t.Fatal(err)
	}
	return proxy, through
}

// rain lets single faults befall a mixed load until there have been enough.
func (f *faultTest) rain(enough func(faults.Counts) bool) {
	since, said := time.Now(), len(f.s.log())
	f.proxy.Set(faults.Weather{Rate: 0.2, WatchRate: 0.8, WatchLife: time.Second, MostInARow: mostInARow, Kinds: faults.All()})
	f.proxy.Cut() // the watches too are in it
	for !enough(f.proxy.Counts()) && !f.w.t.Failed() {
		f.wave()
	}
	f.proxy.Set(faults.Calm())
	f.judgeRain(f.s.log()[said:], time.Since(since))
	f.churn.restore()
	f.recovers("rain")
	f.settles()
}

const (
	// Between two ends of a trouble each of its causes is told once: refusals by their status, and ways in which connections break.
	mostCauses = 20
	// A trouble is over when there was none for so long.
	wellAfter = 10 * time.Second
)

// judgeRain looks at what the scheduler has said in the rain.
func (f *faultTest) judgeRain(log string, took time.Duration) {
	t, faults, all := f.w.t, f.proxy.Counts(), 0
	told, ended := problems(log), endedProblems(log)
	for what, lines := range told {
		all += lines
		if most := 1 + int(took/wellAfter); ended[what] > most {
			t.Errorf("%s was told to work again %d times in %v of rain; %d times it may", what, ended[what], took, most)
		}
		if most := mostCauses * (1 + ended[what]); lines > most {
			t.Errorf("%d lines in the log about %s, which worked again %d times; %d may be", lines, what, ended[what], most)
		}
	}
	if all == 0 {
		t.Errorf("the log says nothing of a problem in %v of rain: %v", took.Round(time.Second), faults)
	}
	t.Logf("rain for %v: %v; %d problems logged: %v, resolved %v", took.Round(time.Second), faults, all, told, ended)
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

// takeAway deletes the pods that still wait, of those with the numbers given. First each must have a message why it waits: a pod that the scheduler
// never noticed would leave no trace.
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

// storm lets every request meet the same fault, beginning with the end of all connections, until what is busy has met it often enough: more
// often than the scheduler may speak of it.
func (f *faultTest) storm(kind faults.Kind) {
	w := f.w
	for _, name := range w.boundPods() {
		w.deletePod(name) // there is room
	}
	before, said, first := f.proxy.Met(kind), len(f.s.log()), f.pods
	// First calls alone, so that the scheduler sees pods and tries to bind them; then watches too.
	f.proxy.Set(faults.Weather{Rate: 1, Kinds: []faults.Kind{kind}})
	for range stormPods {
		w.addPod(podNumber(f.pods), fixture.GPUs(1))
		f.pods++
	}
	calls, watches := busy(kind)
	f.waitMet(kind, before, calls)
	f.proxy.Set(faults.Storm(kind))
	f.proxy.Cut()
	f.waitMet(kind, before, watches)
	told, met := problems(f.s.log()[said:]), f.metSince(kind, before)
	f.proxy.Set(faults.Calm())
	f.recovers(kind.String())
	// Binds whose outcome the scheduler does not know yet would take calls from those that the next storm is to meet.
	until(w.t, "the binds of a storm to be settled", func() bool {
		log := f.s.log()[said:]
		for i := first; i < f.pods; i++ {
			if !strings.Contains(log, " bound pod="+w.ns+"/"+podNumber(i)+" ") {
				return false
			}
		}
		return true
	})
	w.t.Logf("storm of %v: met by %v, problems logged %v", kind, met, told)
	for what, lines := range told {
		if lines > linesPerStorm {
			w.t.Errorf("a storm of %v: %d lines in the log about %s", kind, lines, what)
		}
	}
}

const (
	stormPods = 10
	// A storm is a cause, the connections cut at its begin another one, and what is found when they are opened again may be a third.
	linesPerStorm = 3
)

// busy says how often what the scheduler does all the time is to meet a kind: its calls, and then its watches. Two of those are of pods.
// Not each pod's bind meets it: one may be sent on a connection that an answer before it has ended.
func busy(kind faults.Kind) (calls, watches map[string]int) {
	calls = map[string]int{"create pods/binding": linesPerStorm + 2}
	watches = map[string]int{"watch nodes": linesPerStorm + 1, "watch pods": 2 * (linesPerStorm + 1)}
	switch kind {
	case faults.WrongCertificate: // met by new connections: the watches, mostly
		const ofWatches = 8
		return nil, map[string]int{"handshake": ofWatches * (linesPerStorm + 1)}
	case faults.StalledWatch:
		return nil, watches
	case faults.LostAnswer, faults.FalseError, faults.DoubledRequest, faults.DoubledAnswer:
		return calls, nil
	}
	return calls, watches
}

// metSince is how often a kind has been met since an earlier count.
func (f *faultTest) metSince(kind faults.Kind, before map[string]int) map[string]int {
	met := f.proxy.Met(kind)
	for what, n := range before {
		if met[what] -= n; met[what] == 0 {
			delete(met, what)
		}
	}
	return met
}

// waitMet waits until a kind has been met as often as is wanted since an earlier count.
func (f *faultTest) waitMet(kind faults.Kind, before, want map[string]int) {
	t := f.w.t
	t.Helper()
	for end := time.Now().Add(waitLimit); ; time.Sleep(20 * time.Millisecond) {
		met, enough := f.metSince(kind, before), true
		for what, n := range want {
			enough = enough && met[what] >= n
		}
		if enough {
			return
		}
		if time.Now().After(end) || t.Context().Err() != nil {
			t.Fatalf("%v has been met by %v; wanted %v; the scheduler's log is %s", kind, met, want, f.s.keepLog())
		}
	}
}

// settles waits until the scheduler has said that what it does all the time works again, whatever the trouble was.
func (f *faultTest) settles() {
	t := f.w.t
	t.Helper()
	for end := time.Now().Add(waitLimit); ; time.Sleep(100 * time.Millisecond) {
		open := openProblems(f.s.log())
		// Whether a status is to be written is up to the pods.
		open = slices.DeleteFunc(open, func(what string) bool { return what == "write status" })
		if len(open) == 0 {
			return
		}
		if time.Now().After(end) || t.Context().Err() != nil {
			t.Fatalf("never resolved: %v; the scheduler's log is %s", open, f.s.keepLog())
		}
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
	f.witnessed(w.ns + "-" + name)
	if took > f.limit && after != "calm" {
		w.t.Errorf("recovery from %s took %v", after, took)
	}
}

// witnessed waits until the witness has noted that the scheduler was shown a node. A witness that notes nothing would excuse everything: a
// scheduler may overlook what it was never shown.
func (f *faultTest) witnessed(node string) {
	w := f.w
	w.t.Helper()
	n, err := w.client.CoreV1().Nodes().Get(w.t.Context(), node, metav1.GetOptions{})
	w.must(n, err)
	made, err := strconv.ParseInt(n.ResourceVersion, 10, 64)
	w.must(n, err)
	until(w.t, "the witness to hear that "+node+" was shown", func() bool { return f.witness.Shown() >= made })
}

// problemLine tells of trouble with the API server, or of its end, and with what.
var problemLine = regexp.MustCompile(`(?m) (problem|resolved) what=("[^"]*"|[^ ]*) `)

// problems counts the lines about trouble by what is troubled.
func problems(log string) map[string]int { return problemLines(log, "problem") }

// endedProblems counts the lines about its end.
func endedProblems(log string) map[string]int { return problemLines(log, "resolved") }

func problemLines(log, message string) map[string]int {
	counts := map[string]int{}
	for _, line := range problemLine.FindAllStringSubmatch(log, -1) {
		if line[1] == message {
			counts[strings.Trim(line[2], `"`)]++
		}
	}
	return counts
}

// openProblems names what is still troubled at the end of a log.
func openProblems(log string) []string {
	open := map[string]bool{}
	for _, line := range problemLine.FindAllStringSubmatch(log, -1) {
		open[strings.Trim(line[2], `"`)] = line[1] == "problem"
	}
	maps.DeleteFunc(open, func(_ string, isOpen bool) bool { return !isOpen })
	return slices.Sorted(maps.Keys(open))
}
