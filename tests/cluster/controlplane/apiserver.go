package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// StartAPIServer starts kube-apiserver on its port and data and returns once it is ready. It is an error if it runs already.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	running := c.apiServer != nil && c.apiServer.Running()
	c.mu.Unlock()
	if running {
		return fmt.Errorf("start the API server: it is running")
	}
	p, err := c.start("kube-apiserver", "kube-apiserver", append(c.apiServerFlags(), c.options.APIServerArgs...)...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.apiServer = p
	c.mu.Unlock()
	if err := c.waitReady(ctx, p, c.askReady); err != nil {
		return err
	}
	c.mu.Lock()
	again := c.down
	c.down = false
	c.mu.Unlock()
	if again && c.Outage != nil {
		c.Outage(false)
	}
	return nil
}

// askReady asks the API server for /readyz.
func (c *ControlPlane) askReady(ctx context.Context) error {
	var status int
	err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status).Error()
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("/readyz answers %d", status)
	}
	return err
}

func (c *ControlPlane) apiServerFlags() []string {
	pki := filepath.Join(c.dir, "pki")
	flags := []string{
		"--etcd-servers=" + c.etcdServers(),
		"--etcd-compaction-interval=0", // history must not lose what it has not read yet
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.apiPort),
		"--tls-cert-file=" + filepath.Join(pki, "apiserver.crt"), "--tls-private-key-file=" + filepath.Join(pki, "apiserver.key"),
		"--cert-dir=" + pki,
		"--client-ca-file=" + filepath.Join(pki, "ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + filepath.Join(pki, "tokens.pub"),
		"--service-account-signing-key-file=" + filepath.Join(pki, "tokens.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--allow-privileged",
		// Both plugins wait for a controller that most tests do not run: one to take the not-ready taint off every new
		// node, one to make every namespace's default account.
		"--disable-admission-plugins=TaintNodesByCondition,ServiceAccount",
		"--endpoint-reconciler-type=none", // the service named kubernetes would want an address that is not loopback
		"--shutdown-delay-duration=0s",
		// Without it a server that stops waits a minute for the watches, because nothing ends them.
		"--shutdown-watch-termination-grace-period=5s",
	}
	if c.options.AuditBinds {
		flags = append(flags, "--audit-policy-file="+c.auditPolicy(), "--audit-log-path="+c.AuditLog())
	}
	return flags
}

// bindAudit has every request to bind a pod written down with what it asked for and how it was answered, and nothing else.
const bindAudit = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create]
  resources: [{group: "", resources: [pods/binding, bindings]}]
- level: None
`

func (c *ControlPlane) auditPolicy() string { return filepath.Join(c.dir, "audit-policy.yaml") }

// AuditLog is the path of the audit log, or "" where none is kept. It is there once something has been written to it, goes on when the API server
// is started again, and lacks what was under way when it was killed.
func (c *ControlPlane) AuditLog() string {
	if !c.options.AuditBinds {
		return ""
	}
	return filepath.Join(c.Logs(), "audit.log")
}

// StopAPIServer ends the API server (SIGTERM) and waits for the process, not just for the signal: its port is free again when
// this returns.
func (c *ControlPlane) StopAPIServer() error {
	if p := c.takeAPIServer(); p != nil {
		return p.Stop()
	}
	return nil
}

// KillAPIServer ends the API server with SIGKILL: connections break without a word.
func (c *ControlPlane) KillAPIServer() {
	if p := c.takeAPIServer(); p != nil {
		p.Kill()
	}
}

// APIServer is the running API server's process, or nil.
func (c *ControlPlane) APIServer() *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.apiServer
}

// takeAPIServer takes the process out of our hands, to end it, and announces the outage.
func (c *ControlPlane) takeAPIServer() *Process {
	c.mu.Lock()
	p := c.apiServer
	c.apiServer = nil
	announce := p != nil && !c.down
	c.down = c.down || announce
	c.mu.Unlock()
	if announce && c.Outage != nil {
		c.Outage(true)
	}
	return p
}

// start starts one of the control plane's programs.
func (c *ControlPlane) start(name, program string, args ...string) (*Process, error) {
	p, err := StartProcess(c.Logs(), name, nil, filepath.Join(c.options.Bin, program), args...)
	if err == nil {
		p.patience = serverStopPatience
	}
	return p, err
}

// waitReady asks until the answer is good, the process has ended, or time is up.
func (c *ControlPlane) waitReady(ctx context.Context, p *Process, ask func(context.Context) error) error {
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, c.options.StartTimeout)
	defer cancel()
	alive, ended := context.WithCancel(ctx)
	defer ended()
	go func() {
		select {
		case <-p.Done():
			ended()
		case <-alive.Done():
		}
	}()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		attempt, done := context.WithTimeout(alive, 2*time.Second)
		err := ask(attempt)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return &endedEarlyError{fmt.Sprintf("%s ended (%v) before it was ready; the end of %s:\n%s", p.Name, p.err, p.Log, tail(p.Log))}
		case <-outer.Done():
			return fmt.Errorf("interrupted while %s was starting", p.Name)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %v: %w (see %s)", p.Name, c.options.StartTimeout, err, p.Log)
		case <-ticker.C:
		}
	}
}

// endedEarlyError says of a process that it ended before it was ready.
type endedEarlyError struct{ message string }

func (e *endedEarlyError) Error() string { return e.message }

// tail returns the last lines of a file, for messages.
func tail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-2000):])
}
