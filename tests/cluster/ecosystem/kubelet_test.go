package ecosystem

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is the program of a pod with one container, run on this machine as a kubelet would run it in the image: with the pod's command, arguments
// and environment, with folders of this machine in the place of its volumes.
type container struct {
	p       *plane
	pod     corev1.Pod
	command *exec.Cmd
	output  bytes.Buffer
}

// container makes the program of a pod that has a node. Its command is looked up beside the scheduler that is tried; it is not started.
func (p *plane) container(pod corev1.Pod) *container {
	p.t.Helper()
	if pod.Spec.NodeName == "" || len(pod.Spec.Containers) != 1 {
		p.t.Fatalf("%s has no node, or several containers: %q", pod.Name, pod.Spec.NodeName)
	}
	of := pod.Spec.Containers[0]
	env := map[string]string{}
	for _, variable := range of.Env {
		env[variable.Name] = variable.Value
		if variable.ValueFrom != nil {
			env[variable.Name] = p.field(pod, variable.ValueFrom.FieldRef.FieldPath)
		}
	}
	var folders []string
	for _, mount := range of.VolumeMounts {
		folders = append(folders, "="+mount.MountPath, "="+p.volume(pod, mount.Name))
	}
	c := &container{p: p, pod: pod}
	c.command = exec.CommandContext(p.t.Context(), filepath.Join(filepath.Dir(scheduler()), of.Command[0]))
	for _, word := range append(of.Command[1:], of.Args...) {
		word = envReference.ReplaceAllStringFunc(word, func(reference string) string {
			value, is := env[strings.Trim(reference, "$()")]
			if !is {
				return reference // as a kubelet does
			}
			return value
		})
		c.command.Args = append(c.command.Args, strings.NewReplacer(folders...).Replace(word))
	}
	for name, value := range env {
		c.command.Env = append(c.command.Env, name+"="+value)
	}
	c.command.Stdout, c.command.Stderr = &c.output, &c.output
	return c
}

var (
	envReference = regexp.MustCompile(`\$\(\w+\)`)
	keyed        = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)
)

// field is a pod's field for the downward API; labels and annotations are known.
func (p *plane) field(pod corev1.Pod, path string) string {
	p.t.Helper()
	found := keyed.FindStringSubmatch(path)
	if found == nil {
		p.t.Fatalf("%s: a field %q is not played", pod.Name, path)
	}
	if found[1] == "labels" {
		return pod.Labels[found[2]]
	}
	return pod.Annotations[found[2]]
}

// volume is the folder of this machine in the place of a pod's volume: of a claim the bound volume's, of a ConfigMap one with its files.
func (p *plane) volume(pod corev1.Pod, name string) string {
	p.t.Helper()
	core := p.cluster.Client().CoreV1()
	for _, volume := range pod.Spec.Volumes {
		switch {
		case volume.Name != name:
		case volume.PersistentVolumeClaim != nil:
			claim, err := core.PersistentVolumeClaims(pod.Namespace).Get(p.t.Context(), volume.PersistentVolumeClaim.ClaimName, metav1.GetOptions{})
			if err != nil {
				p.t.Fatal(err)
			}
			bound, err := core.PersistentVolumes().Get(p.t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
			if err != nil {
				p.t.Fatal(err)
			}
			return bound.Spec.HostPath.Path
		case volume.ConfigMap != nil:
			files, err := core.ConfigMaps(pod.Namespace).Get(p.t.Context(), volume.ConfigMap.Name, metav1.GetOptions{})
			if err != nil {
				p.t.Fatal(err)
			}
			folder := filepath.Join(p.cluster.Dir(), "configmap-"+files.Name)
			if err := os.MkdirAll(folder, 0o700); err != nil {
				p.t.Fatal(err)
			}
			for file, text := range files.Data {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					p.t.Fatal(err)
				}
			}
			return folder
		}
	}
	p.t.Fatalf("%s: no volume %q of a kind that is played", pod.Name, name)
	return ""
}

// run runs the program to its end, tells the API server of it, and returns the exit code.
func (c *container) run() int {
	c.p.t.Helper()
	if err := c.command.Start(); err != nil {
		c.p.t.Fatal(err)
	}
	return c.ended()
}

// ended waits for the end of the program that was started, and tells the API server of it as a kubelet would.
func (c *container) ended() int {
	c.p.t.Helper()
	_ = c.command.Wait()
	code := c.command.ProcessState.ExitCode()
	if code < 0 {
		code = 137 // killed
	}
	status := c.pod.Status.DeepCopy()
	status.Phase = corev1.PodSucceeded
	if code != 0 {
		status.Phase = corev1.PodFailed
	}
	status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: c.pod.Spec.Containers[0].Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: int32(code), Reason: fmt.Sprintf("ExitCode%d", code), FinishedAt: metav1.Now(),
		}},
	}}
	c.p.eventually(c.pod.Name+" has ended", func() (bool, string) {
		pod, err := c.p.cluster.Client().CoreV1().Pods(c.pod.Namespace).Get(c.p.t.Context(), c.pod.Name, metav1.GetOptions{})
		if err == nil {
			pod.Status = *status
			_, err = c.p.cluster.Client().CoreV1().Pods(c.pod.Namespace).UpdateStatus(c.p.t.Context(), pod, metav1.UpdateOptions{})
		}
		return err == nil, fmt.Sprint(err)
	})
	return code
}
