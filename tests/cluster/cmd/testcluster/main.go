// testcluster starts a real Kubernetes control plane on the loopback interface and stops it again.
//
//	testcluster run [flags] -- COMMAND ARGS...   runs the command with KUBECONFIG set, then stops everything
//	testcluster up  [flags]                      prints the kubeconfig's path and stays until interrupted
//
// `run` exits with the command's code; with --check, which judges the schedulers named by the API server's history (package
// history), it exits 1 if the command succeeded and the verdict is bad. While it runs, SIGUSR1 prints the verdict so far.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/history"
)

type settings struct {
	dir, bin, nodes, check string
	kwok, scheduler        bool
	controllers            string
	accounts               stringList
	command                []string
}

type stringList []string

func (l *stringList) String() string     { return strings.Join(*l, ",") }
func (l *stringList) Set(v string) error { *l = append(*l, v); return nil }

func main() {
	if len(os.Args) < 2 || (os.Args[1] != "run" && os.Args[1] != "up") {
		fmt.Fprintln(os.Stderr, "usage: testcluster run [flags] -- COMMAND ARGS... | testcluster up [flags]     (-h for flags)")
		os.Exit(2)
	}
	s := parse(os.Args[1], os.Args[2:])
	code, err := serve(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func parse(mode string, args []string) settings {
	var s settings
	flags := flag.NewFlagSet("testcluster "+mode, flag.ExitOnError)
	flags.StringVar(&s.dir, "dir", "", "directory for data, kubeconfigs and logs (default: a temporary one, removed at the end)")
	flags.StringVar(&s.bin, "bin", "", "directory of the binaries (default: where build.sh leaves them)")
	flags.StringVar(&s.nodes, "nodes", "", "YAML file of nodes to create first, or a set of nodes: demo, or gpu=N,cpu=M")
	flags.BoolVar(&s.kwok, "kwok", false, "start KWOK, which plays the kubelets")
	flags.BoolVar(&s.scheduler, "kube-scheduler", false, "start kube-scheduler as default-scheduler")
	flags.StringVar(&s.controllers, "controllers", "", "start kube-controller-manager with these controllers, separated by commas")
	flags.StringVar(&s.check, "check", "", "judge these schedulers (names separated by commas) by the API server's history")
	flags.Var(&s.accounts, "account", "NAMESPACE:NAME of a service account to write a client-certificate kubeconfig for; may be repeated")
	_ = flags.Parse(args)
	s.command = flags.Args()
	if mode == "run" && len(s.command) == 0 {
		fmt.Fprintln(os.Stderr, "testcluster run: no command after --")
		os.Exit(2)
	}
	if mode == "up" && len(s.command) > 0 {
		fmt.Fprintf(os.Stderr, "testcluster up: what is %q for?\n", s.command)
		os.Exit(2)
	}
	return s
}

// serve is the whole life of the control plane. It returns the exit code.
func serve(s settings) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "testcluster-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{Dir: s.dir, Bin: s.bin, AuditBinds: s.check != ""})
	if err != nil {
		return 1, err
	}
	code, err := use(ctx, cluster, s)
	if stopErr := cluster.Stop(); err == nil && stopErr != nil {
		err = fmt.Errorf("stop: %w", stopErr)
	}
	return code, err
}

// use furnishes the control plane and runs the command, or waits for the signal.
func use(ctx context.Context, cluster *controlplane.ControlPlane, s settings) (int, error) {
	var recorder *history.Recorder
	if s.check != "" {
		recorder = history.Record(cluster.Etcd(), history.Options{Schedulers: strings.Split(s.check, ","), Attempts: cluster.AuditLog()})
		defer recorder.Close()
		defer printOnSignal(recorder)()
	}
	if err := furnish(ctx, cluster, s); err != nil {
		return 1, err
	}
	if len(s.command) == 0 {
		fmt.Println(cluster.Kubeconfig())
		<-ctx.Done()
		return 0, nil
	}
	code, err := runCommand(ctx, cluster, s.command)
	if err != nil || recorder == nil {
		return code, err
	}
	report := recorder.Settle(ctx, 30*time.Second)
	fmt.Fprint(os.Stderr, report)
	if err := report.Err(); err != nil && code == 0 {
		return 1, nil // the report has said it
	}
	return code, nil
}

func furnish(ctx context.Context, cluster *controlplane.ControlPlane, s settings) error {
	for _, account := range s.accounts {
		namespace, name, ok := strings.Cut(account, ":")
		if !ok {
			return fmt.Errorf("--account %q: want NAMESPACE:NAME", account)
		}
		path, err := cluster.KubeconfigFor(controlplane.ServiceAccount(namespace, name))
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "testcluster:", account, "is", path)
	}
	if s.nodes != "" {
		if err := createNodes(ctx, cluster, s.nodes); err != nil {
			return err
		}
	}
	if s.kwok {
		if _, err := cluster.StartKwok(ctx); err != nil {
			return err
		}
	}
	if s.controllers != "" {
		if _, err := cluster.StartControllerManager(ctx, strings.Split(s.controllers, ",")...); err != nil {
			return err
		}
	}
	if s.scheduler {
		if _, err := cluster.StartKubeScheduler(ctx, controlplane.SchedulerOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// runCommand runs the command in our place of the terminal. A signal that ends us is passed on to it, and it has some seconds.
func runCommand(ctx context.Context, cluster *controlplane.ControlPlane, command []string) (int, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+cluster.Kubeconfig(),
		"TESTCLUSTER_DIR="+cluster.Dir(),
		"PATH="+cluster.Bin()+string(os.PathListSeparator)+os.Getenv("PATH")) // kubectl of the same version
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := controlplane.RunBound(cmd)
	if code := controlplane.ExitCode(err); code >= 0 {
		return code, nil
	}
	return 1, fmt.Errorf("%s: %w", command[0], err)
}

func printOnSignal(recorder *history.Recorder) (stop func()) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			fmt.Fprint(os.Stderr, recorder.Report())
		}
	}()
	return func() { signal.Stop(asked); close(asked) }
}
