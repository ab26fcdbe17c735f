package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/history"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// teams are three namespaces of one cohort on the world's nodes, with so many GPUs: one with a line of its own for H100, one that keeps
// half of its guarantee for itself, one that lives on what it borrows.
func (w *world) teams(gpus int64) []*world {
	w.t.Helper()
	amount := func(n int64) string { return strconv.FormatInt(n, 10) }
	lines := map[string]list{
		"rich":    {object{"gpuType": "H100", "guaranteed": amount(gpus / 6)}, object{"gpuType": "*", "guaranteed": amount(gpus / 4)}},
		"careful": {object{"gpuType": "*", "guaranteed": amount(gpus / 4), "lendable": amount(gpus / 8), "limit": amount(gpus / 2)}},
		"poor":    {object{"gpuType": "*", "guaranteed": "0"}},
	}
	var teams []*world
	for _, name := range []string{"rich", "careful", "poor"} {
		team := w.beside(w.ns + "-" + name)
		team.addQuota(team.ns, object{"namespaces": list{team.ns}, "cohort": w.ns, "quotas": lines[name]})
		teams = append(teams, team)
	}
	return teams
}

// teamLoad makes GPU nodes, teams and a load of so many pods on them.
func (w *world) teamLoad(pods int) (teams []*world, load *load, gpus int64) {
	w.t.Helper()
	nodes := max(6, pods/20)
	w.addGPUNodes(nodes)
	gpus = int64(nodes) * 8
	teams = w.teams(gpus)
	w.waitNoNews()
	return teams, w.startLoad(pods, gpus/2, teams...), gpus
}

// TestQuotasKilledUnderLoad kills the scheduler at random points of a load of three teams that borrow from each other: at no moment do
// the pods that it bound exceed a limit, nor what the cohort has to lend. Every bind is judged.
func TestQuotasKilledUnderLoad(t *testing.T) {
	w := newWorld(t)
	s := startSubject(t)
	teams, load, _ := w.teamLoad(sizes.quotaPods)
	w.killAtRandom(s, sizes.quotaPods)
	load.wait()
	report := w.verdict(of(teams...), explained(sizes.quotaPods/5, history.OwnerTookBack))
	w.expectAllBound(report)
	w.expectOverQuotaSeen(teams)
	t.Logf("%d pods of three teams through %d kills", sizes.quotaPods, sizes.kills)
}

// TestQuotasChangeUnderLoad changes the quotas all the time: they grow and shrink, lend less or more, leave the cohort and come back, go
// and return.
func TestQuotasChangeUnderLoad(t *testing.T) {
	w := newWorld(t)
	pods := sizes.quotaPods / 2
	s := startSubject(t)
	teams, load, gpus := w.teamLoad(pods)
	changes := 0
	for step := 1; step < 20; step++ {
		w.waitBinds(pods * step / 20)
		team := teams[w.random.IntN(len(teams))]
		guaranteed := 8 + w.random.Int64N(gpus/2)
		spec := object{"cohort": w.ns, "quotas": list{object{"gpuType": "*", "guaranteed": strconv.FormatInt(guaranteed, 10)}}}
		switch w.random.IntN(4) {
		case 0:
			spec["cohort"] = nil
		case 1:
			spec["quotas"] = list{object{"gpuType": "*", "guaranteed": fmt.Sprint(guaranteed), "lendable": "0"}}
		case 2:
			w.deleteQuota(team.ns)
			delete(spec, "cohort")
			w.createQuota(quota(team.ns, object{"namespaces": list{team.ns}, "quotas": spec["quotas"]}))
		}
		w.patchQuota(team.ns, "spec", spec)
		changes++
	}
	for _, team := range teams { // whatever came of it, now all can be placed
		w.patchQuota(team.ns, "spec", object{"cohort": nil, "quotas": list{object{"gpuType": "*", "guaranteed": "16"}}})
	}
	load.wait()
	s.check()
	w.expectAllBound(w.verdict(of(teams...), explained(pods/5, history.QuotaChange, history.OwnerTookBack)))
	t.Logf("%d pods of three teams through %d changes of their quotas", pods, changes)
}

// expectOverQuotaSeen fails the test if no pod ever had to wait for quota: then it showed nothing.
func (w *world) expectOverQuotaSeen(teams []*world) {
	w.t.Helper()
	w.waitFor("the recorder", func(j *history.Judge) bool {
		if !slices.ContainsFunc(teams, func(team *world) bool { return j.ToldOverQuota(team.ns) }) {
			w.t.Error("no pod was ever told that its quota is exceeded")
		}
		return true
	})
}

// TestQuotasThroughATakeover kills the leader of two replicas under such a load. The next one writes no quota's status before it leads;
// then it knows what is used, binds within it, and tells it in the quotas.
func TestQuotasThroughATakeover(t *testing.T) {
	e := newElection(t)
	leader, standby := e.startLeader(), e.startStandby()
	pods := sizes.quotaPods / 2
	teams, load, _ := e.w.teamLoad(pods)
	e.w.waitBinds(pods / 3)
	leader.kill()
	standby.expectSilentUntil("scheduling begins", teams[0].ns)
	load.wait()
	standby.check()
	e.w.expectAllBound(e.w.verdict(of(teams...), explained(pods/5, history.OwnerTookBack)))
	for _, team := range teams {
		used := fmt.Sprint(team.gpusBound())
		e.w.waitQuota(team.ns, "at "+used, func(q *quotaObject) bool { return q.Status.Total.Used == used })
	}
}

// expectSilentUntil spoils a quota's status, and fails the test if it is put right before the replica has logged a text, which it waits for.
func (r *replica) expectSilentUntil(text, quota string) {
	r.t.Helper()
	api := quotas(r.t)
	spoilt, err := api.Patch(r.t.Context(), quota, types.MergePatchType, []byte(`{"status": {"quotas": [{"gpuType": "spoilt"}]}}`), metav1.PatchOptions{}, "status")
	if err != nil {
		r.t.Fatal(err)
	}
	deadline := time.Now().Add(waitLimit)
	for looked := 0; ; looked++ {
		found, err := api.Get(r.t.Context(), quota, metav1.GetOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
		switch { // what the log does not say yet had not happened when the quota was read
		case strings.Contains(r.log(), text):
			r.t.Logf("looked %d times at a status that only a leader may write", looked)
			return
		case found.GetResourceVersion() != spoilt.GetResourceVersion():
			r.t.Fatalf("before %q somebody wrote quota %s: %v", text, quota, found.Object["status"])
		case time.Now().After(deadline):
			r.t.Fatalf("no %q in the log, which is %s", text, r.keepLog())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// gpusBound adds up the GPUs of the namespace's bound pods.
func (w *world) gpusBound() (sum int64) {
	w.t.Helper()
	w.waitFor("the recorder", func(j *history.Judge) bool {
		sum = 0
		for _, p := range j.Pods(w.ns) {
			if bound(p) {
				sum += gpusOf(p)
			}
		}
		return true
	})
	return sum
}
