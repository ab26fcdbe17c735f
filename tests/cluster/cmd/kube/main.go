// kube is a whole Kubernetes control plane in one binary: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler and kubectl, each the real one, chosen by name.
//
// One binary because the five share nearly all of their code: together they link in the time and the space of one. The
// name comes from the file name it is called by (a link named `kubectl`) or else from the first argument
// (`kube kubectl get pods`). Everything after the name belongs to the program that was chosen; nothing of it is
// interpreted here. It is called by package controlplane, and as a kubectl of the same version.
//
// With the build tag demo it has etcd, kube-apiserver and kubectl alone, which build in four fifths of the time.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"

	// The metrics of client-go and of the workqueues appear only where these are linked in, as upstream's binaries do.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// programs maps a program's name to what runs it. It is called with os.Args already shifted: os.Args[0] is the name.
var programs = map[string]func() int{
	"etcd":           runEtcd,
	"kube-apiserver": command(apiserver.NewAPIServerCommand),
	"kubectl":        command(kubectl.NewDefaultKubectlCommand),
}

func main() {
	args := os.Args
	if _, linked := programs[filepath.Base(args[0])]; !linked && len(args) > 1 {
		args = args[1:]
	}
	name := filepath.Base(args[0])
	run, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "kube: no program %q in here; there are %s\n", name, strings.Join(names(), ", "))
		os.Exit(2)
	}
	os.Args = append([]string{name}, args[1:]...)
	os.Exit(run())
}

// runEtcd runs the etcd server until it ends. etcd itself exits the process on a fatal error.
func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

// command runs a cobra command the way its own main does, flags and logs set up alike. The command is made only when it is
// called: making all of them would register the same flags several times.
func command(make func() *cobra.Command) func() int {
	return func() int { return cli.Run(make()) }
}

func names() []string {
	var all []string
	for name := range programs {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
