package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStudy: the study of the examples, with the Job's own controller and that of volumes. The scheduler keeps its pods, which need no GPU, off the GPU
// node. The program of index 1 is killed after the first of its four runs and while it writes the second. The next pod of that index makes the other three.
// What the second Job merges is what one run of everything writes. A changed study in the same volume ends its Job and changes nothing.
func TestStudy(t *testing.T) {
	p := newSite(t, taintedGPUs("gpu-0", fixture.H100))
	results := p.sharedVolume()
	p.runScheduler("--secure-port=0")
	p.kubectl("apply", "-k", example("study"))

	const index = "batch.kubernetes.io/job-completion-index="
	for _, pod := range p.waitRunning("default", "app=study", 3, "node-") {
		program := p.container(pod)
		if pod.Labels[strings.TrimSuffix(index, "=")] == "1" {
			p.killAtTheSecondRun(program, results)
		} else if code := program.run(); code != 0 {
			t.Fatalf("%s ended with %d:\n%s", pod.Name, code, program.output.String())
		}
	}
	made := readPage(t, filepath.Join(results, "run-1.json"))
	again := p.container(p.waitRunning("default", "app=study,"+index+"1", 1, "node-")[0])
	if code := again.run(); code != 0 || !strings.Contains(again.output.String(), "share 1/3: 4 of the study's 12 runs, 1 of them made before") {
		t.Fatalf("the second pod of index 1 ended with %d:\n%s", code, again.output.String())
	}
	if readPage(t, filepath.Join(results, "run-1.json")) != made {
		t.Error("the run that the killed pod had made was made again")
	}
	p.kubectl("wait", "--for=condition=Complete", "job/study", fmt.Sprintf("--timeout=%v", patience))

	p.kubectl("apply", "-f", example("study/merge.yaml"))
	merge := p.container(p.waitRunning("default", "app=study-merge", 1, "node-")[0])
	if code := merge.run(); code != 0 {
		t.Fatalf("the merge ended with %d:\n%s", code, merge.output.String())
	}
	p.kubectl("wait", "--for=condition=Complete", "job/study-merge", fmt.Sprintf("--timeout=%v", patience))
	once := filepath.Join(t.TempDir(), "report")
	printed := strings.ReplaceAll(everything(t, again.command.Args, once), once, filepath.Join(results, "report"))
	wantSame(t, "what is printed", timeless(merge.output.String()), timeless(printed))
	for _, file := range []string{"report.html", "steps.csv", "summary.json"} {
		wantSame(t, file, timeless(readPage(t, filepath.Join(results, "report", file))), timeless(readPage(t, filepath.Join(once, file))))
	}

	p.kubectl("delete", "job", "study", "--cascade=foreground")
	changed := filepath.Join(t.TempDir(), "job.yaml")
	text := strings.NewReplacer("--seed=1..3", "--seed=1..4", "image: gpu-bench", "image: bench").Replace(readPage(t, example("study/job.yaml")))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.kubectl("apply", "-f", changed)
	other := p.container(p.waitRunning("default", "app=study", 3, "node-")[0])
	if code := other.run(); code != 2 || !strings.Contains(other.output.String(), "has a share of another study") {
		t.Fatalf("a share of a changed study ended with %d:\n%s", code, other.output.String())
	}
	p.kubectl("wait", `--for=jsonpath={.status.conditions[?(@.type=="Failed")].reason}=PodFailurePolicy`, "job/study", fmt.Sprintf("--timeout=%v", patience))
	if readPage(t, filepath.Join(results, "run-1.json")) != made {
		t.Error("a changed study has changed a run of the other one")
	}
}

// sharedVolume makes a volume of the class that the example names, for a folder of this machine, and starts the controller that binds claims to volumes.
func (p *plane) sharedVolume() string {
	p.t.Helper()
	folder := p.t.TempDir()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "shared-0"},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:       "shared",
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder}},
		},
	}
	if _, err := p.cluster.Client().CoreV1().PersistentVolumes().Create(p.t.Context(), volume, metav1.CreateOptions{}); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.cluster.StartControllerManager(p.t.Context(), "persistentvolume-binder-controller"); err != nil {
		p.t.Fatal(err)
	}
	return folder
}

// killAtTheSecondRun starts share 1/3 and kills it while it opens the file of its second run, number 4, which nobody reads. It leaves the half of a file there.
func (p *plane) killAtTheSecondRun(program *container, results string) {
	p.t.Helper()
	draft := filepath.Join(results, "run-4.json.part")
	if err := syscall.Mkfifo(draft, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := program.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.eventually("the first run is made", func() (bool, string) {
		_, err := os.Stat(filepath.Join(results, "run-1.json"))
		return err == nil, fmt.Sprint(err)
	})
	time.Sleep(100 * time.Millisecond) // it may be killed a little before the second run, too
	if err := program.command.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if code := program.ended(); code != 137 {
		p.t.Fatalf("the program that was to be killed ended with %d:\n%s", code, program.output.String())
	}
	whole := readPage(p.t, filepath.Join(results, "run-1.json"))
	if err := os.Remove(draft); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(draft, []byte(whole[:len(whole)/2]), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// everything makes all runs of a share's study in one process, and returns what it prints.
func everything(t *testing.T, share []string, out string) string {
	t.Helper()
	var args []string
	for _, word := range share[1:] {
		if !strings.HasPrefix(word, "--share=") && !strings.HasPrefix(word, "--out=") {
			args = append(args, word)
		}
	}
	command := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(scheduler()), "bench"), append(args, "--out="+out)...)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return string(output)
}

// seconds that runs took, which no two runs share: in summary.json, in the page, and in the table's column "CPU s/run".
var seconds = regexp.MustCompile(`"seconds": [0-9.e-]+|<span class="took">[^<]*</span>|[0-9]+\.[0-9]{2}\n`)

func timeless(text string) string { return seconds.ReplaceAllString(text, "S") }

func wantSame(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s of the merge is not that of one run; at %d it has\n%s\nand not\n%s", what, at, part(got, at), part(want, at))
	}
}

func part(text string, at int) string { return text[max(0, at-100):min(len(text), at+200)] }
