//go:build !demo

package main

import (
	"github.com/spf13/cobra"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func init() {
	programs["kube-controller-manager"] = command(controllermanager.NewControllerManagerCommand)
	programs["kube-scheduler"] = command(func() *cobra.Command { return scheduler.NewSchedulerCommand() })
}
