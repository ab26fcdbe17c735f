package controlplane

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// StartKwok starts KWOK for every node of the cluster: it keeps nodes Ready, takes bound pods to Running within a second, completes pods of
// Jobs, and removes deleted pods as a kubelet would. The stages named in without are left out: without "pod-complete" the pods of Jobs run on.
func (c *ControlPlane) StartKwok(ctx context.Context, without ...string) (*Process, error) {
	stages, err := c.kwokStages(without)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", ports[0])
	p, err := StartProcess(c.Logs(), "kwok", nil, filepath.Join(c.options.Bin, "kwok"),
		"--kubeconfig="+c.admin,
		"--config="+stages,
		"--manage-all-nodes=true",
		"--server-address="+address,
		"--node-lease-duration-seconds=0")
	if err != nil {
		return nil, err
	}
	c.adopt(p)
	return p, c.waitReady(ctx, p, httpOK("http://"+address+"/healthz"))
}

// kwokStages writes the stages of build.sh, less those left out, into the control plane's directory.
func (c *ControlPlane) kwokStages(without []string) (string, error) {
	all, err := os.ReadFile(filepath.Join(c.options.Bin, "kwok-stages.yaml"))
	if err != nil {
		return "", err
	}
	text := string(all)
	for _, name := range without {
		var kept []string
		stages := strings.Split(text, "---\n")
		for _, stage := range stages {
			if !strings.Contains(stage, "\n  name: "+name+"\n") {
				kept = append(kept, stage)
			}
		}
		if len(kept) == len(stages) {
			return "", fmt.Errorf("start KWOK: there is no stage %q to leave out", name)
		}
		text = strings.Join(kept, "---\n")
	}
	path := filepath.Join(c.dir, "kwok-stages.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// SchedulerOptions of StartKubeScheduler.
type SchedulerOptions struct {
	// Name is the schedulerName it answers to. Default "default-scheduler".
	Name string
	// Identity it has. Default KubeScheduler.
	Identity Identity
	// QPS and Burst of its client. Default 5000.
	QPS, Burst int
	// LeaderElect has it elect a leader by its usual lease, kube-system/kube-scheduler.
	LeaderElect bool
	// Settings are more lines of its configuration, at the top level.
	Settings string
	// Port where it serves its probes and metrics. Default any that is free.
	Port int
	// Args are added to its flags.
	Args []string
}

// StartKubeScheduler starts upstream's scheduler with its default profile. It returns when the process answers /healthz.
func (c *ControlPlane) StartKubeScheduler(ctx context.Context, options SchedulerOptions) (*Process, error) {
	if options.Name == "" {
		options.Name = "default-scheduler"
	}
	if options.Identity.User == "" {
		options.Identity = KubeScheduler
	}
	if options.QPS == 0 {
		options.QPS, options.Burst = 5000, 5000
	}
	kubeconfig, err := c.KubeconfigFor(options.Identity)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(c.dir, "kube-scheduler-"+options.Name+".yaml")
	text := SchedulerConfiguration(options.Name, kubeconfig, options.QPS, options.Burst) + options.Settings
	if options.LeaderElect {
		text = strings.Replace(text, "leaderElect: false", "leaderElect: true", 1)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if options.Port == 0 {
		if options.Port, err = FreePort(); err != nil {
			return nil, err
		}
	}
	args := append([]string{"--config=" + config, "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", options.Port), "--cert-dir=" + filepath.Join(c.dir, "pki")}, options.Args...)
	p, err := c.start("kube-scheduler", "kube-scheduler", args...)
	if err != nil {
		return nil, err
	}
	c.adopt(p)
	return p, c.waitReady(ctx, p, httpOK(fmt.Sprintf("https://127.0.0.1:%d/healthz", options.Port)))
}

// SchedulerConfiguration is a KubeSchedulerConfiguration of one profile without leader election, which both kube-scheduler and
// gpu-scheduler read.
func SchedulerConfiguration(schedulerName, kubeconfig string, qps, burst int) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %q
  qps: %d
  burst: %d
profiles:
- schedulerName: %s
`, kubeconfig, qps, burst, schedulerName)
}

// StartControllerManager starts kube-controller-manager with just the controllers named, for example "job" and "garbage-collector-controller".
func (c *ControlPlane) StartControllerManager(ctx context.Context, controllers ...string) (*Process, error) {
	kubeconfig, err := c.KubeconfigFor(KubeControllerManager)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	pki := filepath.Join(c.dir, "pki")
	p, err := c.start("kube-controller-manager", "kube-controller-manager",
		"--kubeconfig="+kubeconfig,
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[0]), "--cert-dir="+pki,
		"--use-service-account-credentials=false",
		"--service-account-private-key-file="+filepath.Join(pki, "tokens.key"),
		"--root-ca-file="+filepath.Join(pki, "ca.crt"))
	if err != nil {
		return nil, err
	}
	c.adopt(p)
	return p, c.waitReady(ctx, p, httpOK(fmt.Sprintf("https://127.0.0.1:%d/healthz", ports[0])))
}

// StartChild starts any other program in the control plane's care: Stop ends it first.
func (c *ControlPlane) StartChild(name string, env []string, program string, args ...string) (*Process, error) {
	p, err := StartProcess(c.Logs(), name, env, program, args...)
	if err == nil {
		c.adopt(p)
	}
	return p, err
}

func (c *ControlPlane) adopt(p *Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others = append(c.others, p)
}

// httpOK asks a URL of a process of ours for 200. Its certificate is self-signed and says nothing, so nothing is asked of it.
func httpOK(url string) func(context.Context) error {
	client := &http.Client{Transport: insecureTransport(), Timeout: 2 * time.Second}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}

func insecureTransport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
}
