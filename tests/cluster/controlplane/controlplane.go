// Package controlplane starts a real Kubernetes control plane on the loopback interface for the time of a test: etcd and
// kube-apiserver, and on demand KWOK (which plays the kubelets), kube-scheduler and kube-controller-manager.
//
// Everything is made anew for each start (certificates, data, ports that were free a moment ago), so several can run side by
// side and none inherits anything. Every process is a child of ours, ended by its own id and killed by the kernel if we die
// first; its output stays in DIR/logs. Beyond starting and stopping, the package does to an API server what happens to one
// in life: it is stopped, killed and started again on the same port and data (StopAPIServer, KillAPIServer, StartAPIServer), and
// its past is compacted away so that clients that resume are told 410 Gone (Compact, Expire).
//
// What it is not: a cluster. There are no kubelets, no network, no DNS; nodes are only objects, and nothing
// rejects a pod too many, which is why package history exists. The binaries come from tests/cluster/build.sh.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options of Start. Only Dir is required.
type Options struct {
	// Dir receives data, certificates, kubeconfigs and logs. Made if missing; data and logs of an earlier start in it are removed.
	Dir string
	// Bin is where etcd, kube-apiserver, kubectl and what else is started are. Default: see FindBin.
	Bin string
	// APIServerArgs are added to kube-apiserver's flags, and win over ours.
	APIServerArgs []string
	// EtcdArgs are added to etcd's.
	EtcdArgs []string
	// EtcdMembers is how many etcds there are. Default one.
	EtcdMembers int
	// EtcdFront, where set, is called with each member's address, HOST:PORT, and returns the one under which the API server is to find it.
	EtcdFront func(member int, address string) (string, error)
	// AuditBinds has the API server keep a log of all requests to bind pods, those that fail too: see AuditLog. It costs a line each.
	AuditBinds bool
	// StartTimeout bounds the wait for each process to be ready. Default three minutes: several may start at a time, on a machine that is busy.
	StartTimeout time.Duration
}

// ControlPlane is a running control plane. Its methods may be called from several goroutines, but starting and stopping
// the API server is for one at a time.
type ControlPlane struct {
	// BeforeCompact, where set, is called with the revision before etcd forgets what is older: a reader of etcd's history
	// uses it to catch up first.
	BeforeCompact func(ctx context.Context, revision int64) error
	// Outage, where set, is called with true before the API server is stopped or killed, and with false when it is
	// ready again.
	Outage func(down bool)

	options Options
	dir     string
	ca      *authority
	admin   string // path of the admin's kubeconfig
	config  *rest.Config
	client  kubernetes.Interface
	store   *clientv3.Client

	members []etcdMember
	apiPort int

	mu        sync.Mutex
	apiServer *Process
	down      bool       // it was stopped or killed, and is not ready again yet
	others    []*Process // in the order they were started
}

// Start starts etcd and kube-apiserver and returns once /readyz says ok. On an error, or when ctx ends, whatever was started is
// stopped again. A server that ends before it is ready (its port was taken a moment ago, or it gave up on a machine that is busy) is
// started twice more, with other ports.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	for try := 1; ; try++ {
		c, err := startOnce(ctx, options)
		var early *endedEarlyError
		if err == nil || try == 3 || !errors.As(err, &early) {
			return c, err
		}
		fmt.Fprintf(os.Stderr, "start a control plane again: %v\n", err)
	}
}

func startOnce(ctx context.Context, options Options) (*ControlPlane, error) {
	c, err := prepare(options)
	if err != nil {
		return nil, err
	}
	if err := c.startEtcd(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// prepare makes the directory and all that is in files before a process is started.
func prepare(options Options) (*ControlPlane, error) {
	if options.Dir == "" {
		return nil, errors.New("start a control plane: Options.Dir is empty")
	}
	if options.StartTimeout == 0 {
		options.StartTimeout = 3 * time.Minute
	}
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, err
	}
	if options.Bin == "" {
		if options.Bin, err = FindBin(); err != nil {
			return nil, err
		}
	}
	c := &ControlPlane{options: options, dir: dir}
	for _, stale := range []string{"etcd", "pki", "logs"} {
		if err := os.RemoveAll(filepath.Join(dir, stale)); err != nil {
			return nil, err
		}
	}
	for _, needed := range []string{"pki", "logs"} {
		if err := os.MkdirAll(filepath.Join(dir, needed), 0o755); err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	c.apiPort = ports[0]
	if c.members, err = prepareEtcd(max(1, options.EtcdMembers), options.EtcdFront); err != nil {
		return nil, err
	}
	if c.ca, err = writePKI(filepath.Join(dir, "pki")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.auditPolicy(), []byte(bindAudit), 0o600); err != nil {
		return nil, err
	}
	return c, c.makeClients()
}

func (c *ControlPlane) makeClients() (err error) {
	if c.admin, err = c.KubeconfigFor(Admin); err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.admin); err != nil {
		return err
	}
	c.config.QPS, c.config.Burst = 5000, 5000 // a test waits for the server, not for its own client
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	c.store, err = clientv3.New(clientv3.Config{
		Endpoints: c.etcdURLs(), DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
	})
	return err
}

// Stop ends every process, the last started first, and returns what did not end by itself.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	var all []*Process
	for i := range c.members {
		all = append(all, c.members[i].process)
		c.members[i].process = nil
	}
	all = append(append(all, c.apiServer), c.others...)
	c.apiServer, c.others = nil, nil
	c.mu.Unlock()
	var failures []error
	if c.store != nil {
		failures = append(failures, c.store.Close())
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] != nil {
			failures = append(failures, all[i].Stop())
		}
	}
	return errors.Join(failures...)
}

// Dir is the control plane's directory.
func (c *ControlPlane) Dir() string { return c.dir }

// Logs is the directory of the processes' output.
func (c *ControlPlane) Logs() string { return filepath.Join(c.dir, "logs") }

// Bin is the directory the binaries come from.
func (c *ControlPlane) Bin() string { return c.options.Bin }

// URL is the API server's address; it stays the same when the server is started again.
func (c *ControlPlane) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.apiPort) }

// EtcdURL is where etcd answers, its first member.
func (c *ControlPlane) EtcdURL() string { return c.members[0].url() }

// Kubeconfig is the path of the admin's kubeconfig.
func (c *ControlPlane) Kubeconfig() string { return c.admin }

// Config is the admin's client configuration, to copy before changing.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client is the admin's client. Its rate is not limited.
func (c *ControlPlane) Client() kubernetes.Interface { return c.client }

// Etcd is a client of the store beneath the API server.
func (c *ControlPlane) Etcd() *clientv3.Client { return c.store }

// FindBin finds the directory that build.sh filled: $GPU_SCHEDULER_CLUSTER_BIN, the directory of the running program, or
// build/cluster/bin in the working directory or above it.
func FindBin() (string, error) {
	var candidates []string
	if named := os.Getenv("GPU_SCHEDULER_CLUSTER_BIN"); named != "" {
		candidates = append(candidates, named)
	}
	if self, err := os.Executable(); err == nil {
		candidates = append(candidates, filepath.Dir(self))
	}
	if root, err := RepositoryRoot(); err == nil {
		candidates = append(candidates, filepath.Join(root, "build/cluster/bin"))
	}
	for _, dir := range candidates {
		if _, err := os.Stat(filepath.Join(dir, "kube-apiserver")); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("no control plane binaries in %v: run tests/cluster/build.sh", candidates)
}

// RepositoryRoot is the nearest directory, from the working directory or from the running program's upward, that contains tests/cluster/build.sh.
func RepositoryRoot() (string, error) {
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if self, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(self))
	}
	for _, dir := range starts {
		for ; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "tests/cluster/build.sh")); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("no tests/cluster/build.sh in or above any of %v", starts)
}
