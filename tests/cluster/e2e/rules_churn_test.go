package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/history"

	corev1 "k8s.io/api/core/v1"
)

// TestRulesUnderChurn has pods with rules across nodes of every kind come all at once, from two teams on the same nodes, and looks at where they run when
// all have landed: nothing has been deleted, so every rule holds exactly. Then such pods come and go at the same time, while the
// leader of two replicas is killed again and again. Each bind is judged as it lands, and in the end no pod waits that could be placed.
func TestRulesUnderChurn(t *testing.T) {
	const zones, kills = 3, 3
	atOnce := sizes.pods / 4
	nodes := zones * max(2, atOnce/25)
	e := newElection(t)
	w := e.w
	for i := range nodes {
		w.addNode(fixture.GPUNode(fmt.Sprintf("%s-%d", w.ns, i), fixture.L4, 8, fixture.Zone(string(rune('a'+i%zones)))))
	}
	team := w.beside(w.ns + "-team")
	w.waitNoNews()
	r := &ruled{teams: []*world{w, team}, random: w.random, most: 5 * nodes}
	replicas := []*replica{e.startLeader(), e.startStandby()}

	r.create(atOnce)
	report := w.verdict(of(team), explained(atOnce/4, history.BindUnderWay))
	w.waitFor("the recorder", func(j *history.Judge) bool {
		if broken := slices.Concat(j.BrokenRules(w.ns), j.BrokenRules(team.ns)); len(broken) > 0 {
			t.Errorf("with nothing deleted and all binds landed, %d pods are where they must not be:\n%s", len(broken), strings.Join(broken, "\n"))
		}
		return true
	})
	t.Logf("%d pods at once: %d bound, %d wait, %d landed before those that they were decided after", atOnce, w.boundSoFar(), report.Pending, report.Explained)

	w.allowForLateness()
	reaped := r.reap(t.Context())
	first := w.boundSoFar()
	created := make(chan struct{})
	go func() {
		defer close(created)
		r.createWhilePlaced(sizes.pods)
	}()
	for i := range kills {
		w.waitBinds(first + (1+i)*sizes.pods/(2*kills))
		leader := e.leaderOf(replicas)
		replicas[leader].kill()
		w.catchUp()
		w.recorder.Killed()
		replicas[leader] = e.startReplica(nil)
	}
	<-created
	if err := reaped(); err != nil {
		t.Fatal(err)
	}
	report = w.verdict(of(team), explained(sizes.pods/8, history.BindUnderWay, history.PodChange), explained(sizes.pods/40, history.BindCutShort))
	for _, one := range replicas {
		one.check()
	}
	binds := w.boundSoFar()
	t.Logf("%d pods through %d kills of the leader: %d bound, %d deleted, %d wait", r.made, kills, binds, r.deleted, report.Pending)
	if binds < sizes.pods/2 {
		t.Errorf("only %d binds of %d pods: this tested little", binds, r.made)
	}
}

// ruled is a load of pods with rules across nodes.
type ruled struct {
	teams   []*world // owners of the pods, in turn
	random  *rand.Rand
	most    int // that run at a time, and twice those that wait
	made    int
	deleted int
}

// kinds of pods, by what they demand of each other. A number tells apart several apps of a kind.
func kinds() []func(number int) []fixture.PodOption {
	named := func(kind string, number int) (string, fixture.PodOption) {
		name := fmt.Sprintf("%s-%d", kind, number%2)
		return name, app(name)
	}
	return []func(int) []fixture.PodOption{
		func(n int) []fixture.PodOption { // replicas on nodes of their own, in all zones alike
			name, labelled := named("web", n)
			return []fixture.PodOption{labelled, spread(name, 0), apart(hostname, name)}
		},
		func(n int) []fixture.PodOption { // in three zones
			name, labelled := named("wide", n)
			return []fixture.PodOption{labelled, fixture.Spread(zone, 2, 3, "app", name), fixture.GPUs(1)}
		},
		func(n int) []fixture.PodOption { // in the zone of the first of them, which has room for so many
			name, labelled := named("ring", n)
			return []fixture.PodOption{labelled, together(zone, name), fixture.GPUs(2)}
		},
		func(n int) []fixture.PodOption { // beside another's
			name, _ := named("web", n)
			return []fixture.PodOption{app("side"), together(hostname, name)}
		},
		func(int) []fixture.PodOption { // not beside the noisy of any team
			return []fixture.PodOption{app("quiet"), fixture.Apart(fixture.InAllNamespaces(fixture.Term(hostname, "app", "noisy")))}
		},
		func(int) []fixture.PodOption { return []fixture.PodOption{app("noisy"), fixture.GPUs(4)} },
		func(int) []fixture.PodOption { // one a zone, whichever team's
			return []fixture.PodOption{app("agent"), fixture.Apart(fixture.InAllNamespaces(fixture.Term(zone, "app", "agent")))}
		},
	}
}

// create makes so many pods, several at a time, of all kinds and teams.
func (r *ruled) create(pods int) {
	first, kinds := r.made, kinds()
	r.made += pods
	// How many of a kind there are differs, so that not all wait for the same.
	drawn := make([]int, pods)
	for i := range drawn {
		drawn[i] = []int{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6}[r.random.IntN(12)]
	}
	r.teams[0].parallel(pods, func(i int) {
		n := first + i
		r.teams[n%len(r.teams)].addPod(podNumber(n), kinds[drawn[i]](n/len(r.teams))...)
	})
}

// createWhilePlaced makes so many pods, the next few when of those before not too many are unanswered.
func (r *ruled) createWhilePlaced(pods int) {
	const few, unanswered = 10, 40
	for made := 0; made < pods; made += few {
		err := r.teams[0].await("pods to be placed or refused", func(j *history.Judge) bool {
			return r.count(j, func(p *corev1.Pod) bool { return !bound(p) && condition(p) == nil }) < unanswered
		})
		if err != nil {
			r.teams[0].t.Error(err)
			return
		}
		r.create(few)
	}
}

// reap deletes pods, those that run and some of those that wait, whenever there are many of either. The function that it returns ends that.
func (r *ruled) reap(ctx context.Context) (end func() error) {
	ctx, stop := context.WithCancel(ctx)
	random := rand.New(rand.NewPCG(sizes.seed, 1)) // its own: this runs beside others
	done := make(chan error, 1)
	go func() {
		for {
			victims, err := r.victims(ctx, random)
			if len(victims) == 0 {
				done <- err
				return
			}
			r.deleted += len(victims)
			r.teams[0].parallel(len(victims), func(i int) { victims[i].of.deletePod(victims[i].name) })
		}
	}()
	return func() error {
		stop()
		return <-done
	}
}

// victims waits until there are many pods, and names some to delete; none when ctx has ended.
func (r *ruled) victims(ctx context.Context, random *rand.Rand) (victims []victim, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	w := r.teams[0]
	err = w.recorder.WaitFor(ctx, func(_ int64, j *history.Judge) bool {
		var run, wait []victim
		for _, team := range r.teams {
			pods := j.Pods(team.ns)
			slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
			for _, p := range pods {
				if bound(p) {
					run = append(run, victim{team, p.Name})
				} else if condition(p) != nil {
					wait = append(wait, victim{team, p.Name})
				}
			}
		}
		if len(run) > r.most {
			victims = append(victims, some(run, 12, random)...)
		}
		if len(wait) > r.most/2 {
			victims = append(victims, some(wait, 6, random)...)
			victims = append(victims, some(run, 6, random)...)
		}
		return len(victims) > 0
	})
	if context.Cause(ctx) == context.Canceled {
		return nil, nil
	}
	return victims, err
}

// some draws so many of a list.
func some(of []victim, count int, random *rand.Rand) []victim {
	random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of[:min(count, len(of))]
}

func (r *ruled) count(j *history.Judge, what func(*corev1.Pod) bool) (n int) {
	for _, team := range r.teams {
		for _, p := range j.Pods(team.ns) {
			if what(p) {
				n++
			}
		}
	}
	return n
}

// leaderOf is which of the replicas leads, when one does.
func (e *election) leaderOf(replicas []*replica) (leader int) {
	e.w.t.Helper()
	until(e.w.t, "one of the replicas to lead", func() bool {
		leader = slices.IndexFunc(replicas, func(r *replica) bool { return r.process.Running() && strings.Contains(r.log(), "scheduling begins") })
		return leader >= 0
	})
	return leader
}
