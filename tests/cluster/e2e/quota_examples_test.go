package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
)

// The worked examples of scheduler/quota/README.md, step by step.

const productLabel = "nvidia.com/gpu.product"

// TestQuotaExamplesAreTheOnesInTheManual keeps the page and the files that are tried here the same.
func TestQuotaExamplesAreTheOnesInTheManual(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "scheduler/quota/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "manifests/examples/quota/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), string(content)) {
			t.Errorf("the manual does not show %s as it is", filepath.Base(file))
		}
	}
	if !strings.Contains(string(page), inTheManual) {
		t.Error("the manual does not show what kubectl shows")
	}
}

// TestQuotaOfOneTeam: type lines and "*" together, and a pod that its quota keeps waiting beside one that no node has room for.
func TestQuotaOfOneTeam(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("one-team-h100", fixture.H100, 8))
	w.addNode(fixture.GPUNode("one-team-l4", fixture.L4, 8))
	w.addQuotas("one-team.yaml")
	vision := w.beside("vision")
	h100 := fixture.On(productLabel, fixture.H100.Product)
	for i := range 4 {
		vision.addPod(fmt.Sprintf("train-%d", i), fixture.GPUs(1), h100)
		vision.waitPod(fmt.Sprintf("train-%d", i), "bound", bound)
	}

	vision.addPod("train-4", fixture.GPUs(1), h100)
	vision.waitOverQuota("train-4", "quota team-vision: H100 needs 1, 4 of 4 in use, first in line; 1 more must be freed")
	vision.addPod("any", fixture.GPUs(1))
	if p := vision.waitPod("any", "bound where its quota has room", bound); p.Spec.NodeName != "one-team-l4" {
		t.Errorf("a pod that names no type is on %q, where its quota has no room", p.Spec.NodeName)
	}
	vision.addPod("no-room", fixture.GPUs(1), fixture.Requests("cpu", "1000"))
	vision.waitRefused("no-room", "0/2 nodes are available:")
	vision.addPod("no-gpu", fixture.Requests("cpu", "1"))
	vision.waitPod("no-gpu", "bound: quotas do not concern it", bound)
	vision.waitAccount("team-vision", "H100: guaranteed 4, used 4, borrowed 0, lent 0, pending 1; *: guaranteed 2, used 1, borrowed 0, lent 0, pending 1")

	vision.deletePod("train-0")
	vision.waitPod("train-4", "bound in its place", bound)
	w.verdict(of(vision))
}

// inTheManual is what kubectl shows in the middle of the example of a cohort.
const inTheManual = `
NAME          COHORT     GUARANTEED   USED   BORROWED   LENT   PENDING   READY   AGE
team-speech   research   4            0      0          2      0         True    40s
team-text     research   4            6      2          0      1         True    40s
`

// fields are the words of each line but the last one, the age.
func fields(table string) (words []string) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		all := strings.Fields(line)
		words = append(words, all[:len(all)-1]...)
	}
	return words
}

// TestQuotasOfACohort: two namespaces lend to and borrow from each other, and the owner's pods come before the borrower's.
func TestQuotasOfACohort(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("cohort", fixture.A100, 8))
	w.addQuotas("cohort.yaml")
	texts, speech := w.beside("text"), w.beside("speech")
	for i := range 6 {
		texts.addPod(fmt.Sprintf("text-%d", i), fixture.GPUs(1))
		texts.waitPod(fmt.Sprintf("text-%d", i), "bound", bound)
	}
	texts.addPod("text-6", fixture.GPUs(1))
	texts.waitOverQuota("text-6", "quota team-text: * needs 1, 6 of 6 in use (2 borrowed from cohort research), first in line; 1 more must be freed")
	w.waitAccount("team-text", "*: guaranteed 4, used 6, borrowed 2, lent 0, pending 1")
	w.waitAccount("team-speech", "*: guaranteed 4, used 0, borrowed 0, lent 2, pending 0")
	if shown := kubectl(t, "get", "gq"); !slices.Equal(fields(shown), fields(inTheManual)) {
		t.Errorf("kubectl get gq:\n%s\nwant, up to the ages:\n%s", shown, inTheManual)
	}

	for i := range 2 {
		speech.addPod(fmt.Sprintf("speech-%d", i), fixture.GPUs(1))
		speech.waitPod(fmt.Sprintf("speech-%d", i), "bound: it kept two for itself", bound)
	}
	speech.addPod("speech-2", fixture.GPUs(1))
	speech.waitRefused("speech-2", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")

	texts.deletePod("text-0")
	speech.waitPod("speech-2", "bound: it is within its guarantee, text-6 would borrow", bound)
	w.waitAccount("team-text", "*: guaranteed 4, used 5, borrowed 1, lent 0, pending 1")
	w.waitAccount("team-speech", "*: guaranteed 4, used 3, borrowed 0, lent 1, pending 0")
	w.verdict(of(texts, speech))
}

// TestQuotasOfDepartments: a team borrows in its department, which borrows from another; and which quota is next when something ends.
func TestQuotasOfDepartments(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	w.addNode(fixture.GPUNode("departments", fixture.A100, 8))
	w.addQuotas("departments.yaml")
	lattice, optics, biology := w.beside("lattice"), w.beside("optics"), w.beside("biology")
	for i := range 7 {
		lattice.addPod(fmt.Sprintf("lattice-%d", i), fixture.GPUs(1))
		lattice.waitPod(fmt.Sprintf("lattice-%d", i), "bound", bound)
	}
	lattice.addPod("lattice-7", fixture.GPUs(1))
	lattice.waitOverQuota("lattice-7", "quota team-lattice: * needs 1, 7 of 7 in use (4 borrowed in quota physics), first in line; 1 more must be freed")
	w.waitAccount("physics", "*: guaranteed 6, used 7, borrowed 2, lent 0, pending 0")
	w.waitAccount("biology", "*: guaranteed 2, used 0, borrowed 0, lent 2, pending 0")

	optics.addPod("optics-0", fixture.GPUs(1))
	optics.waitPod("optics-0", "bound: it kept one for itself", bound)
	biology.addPod("biology-0", fixture.GPUs(1))
	biology.waitRefused("biology-0", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
	w.waitAccount("physics", "*: guaranteed 6, used 8, borrowed 2, lent 0, pending 0")
	w.waitAccount("team-optics", "*: guaranteed 2, used 1, borrowed 0, lent 1, pending 0")

	lattice.deletePod("lattice-0")
	biology.waitPod("biology-0", "bound: it is within its guarantee, lattice-7 would borrow", bound)
	w.waitAccount("team-lattice", "*: guaranteed 3, used 6, borrowed 3, lent 0, pending 1")
	w.waitAccount("biology", "*: guaranteed 2, used 1, borrowed 0, lent 1, pending 0")
	w.verdict(of(lattice, optics, biology))
}

// TestQuotaOfMIGAndSharedGPUs: a MIG instance counts by its memory slices, a shared GPU by its replicas.
func TestQuotaOfMIGAndSharedGPUs(t *testing.T) {
	w := newWorld(t)
	startSubject(t)
	mig := func(profile, count string) fixture.NodeOption {
		return fixture.Allocatable(corev1.ResourceName("nvidia.com/mig-"+profile), count)
	}
	w.addNode(fixture.GPUNode("mig", fixture.A100, 0, mig("3g.40gb", "3"), mig("1g.10gb", "7"), fixture.Label("nvidia.com/mig.strategy", "mixed")))
	w.addNode(fixture.GPUNode("shared", fixture.L4, 16,
		fixture.Label(productLabel, fixture.L4.Product+"-SHARED"),
		fixture.Label("nvidia.com/gpu.replicas", "4"), fixture.Label("nvidia.com/gpu.sharing-strategy", "time-slicing")))
	w.addQuotas("mig.yaml")
	notebooks := w.beside("notebooks")
	l4 := fixture.On(productLabel, fixture.L4.Product+"-SHARED")
	for i := range 2 {
		notebooks.addPod(fmt.Sprintf("half-%d", i), instances("3g.40gb"))
		notebooks.waitPod(fmt.Sprintf("half-%d", i), "bound", bound)
		notebooks.addPod(fmt.Sprintf("shared-%d", i), fixture.GPUs(1), l4)
		notebooks.waitPod(fmt.Sprintf("shared-%d", i), "bound", bound)
	}
	notebooks.addPod("eighth", instances("1g.10gb"))
	notebooks.waitOverQuota("eighth", "quota team-notebooks: NVIDIA-A100-SXM4-80GB needs 0.125, 1 of 1 in use, first in line; 0.125 more must be freed")
	notebooks.addPod("shared-2", fixture.GPUs(1), l4)
	notebooks.waitOverQuota("shared-2", "quota team-notebooks: NVIDIA-L4 needs 0.25, 0.5 of 0.5 in use, ")
	w.waitAccount("team-notebooks", "NVIDIA-A100-SXM4-80GB: guaranteed 1, used 1, borrowed 0, lent 0, pending 125m; NVIDIA-L4: guaranteed 500m, used 500m, borrowed 0, lent 0, pending 250m")

	notebooks.deletePod("half-0")
	notebooks.waitPod("eighth", "bound", bound)
	notebooks.deletePod("shared-0")
	notebooks.waitPod("shared-2", "bound", bound)
	w.verdict(of(notebooks))
}

// instances asks for one MIG instance of a profile.
func instances(profile string) fixture.PodOption {
	return func(p *corev1.Pod) {
		name := corev1.ResourceName("nvidia.com/mig-" + profile)
		fixture.Requests(name, "1")(p)
		p.Spec.Containers[0].Resources.Limits[name] = p.Spec.Containers[0].Resources.Requests[name]
	}
}
