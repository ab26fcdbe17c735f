package controlplane

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplyScheduler applies a kustomization that deploys one scheduler (manifests/base, for one) and returns the service account that its
// Deployment runs as. Nothing runs the Deployment: what the caller gets is the account with its role and its flow control.
func (c *ControlPlane) ApplyScheduler(ctx context.Context, kustomization string) (Identity, error) {
	apply := exec.CommandContext(ctx, filepath.Join(c.Bin(), "kubectl"), "--kubeconfig", c.Kubeconfig(), "apply", "-k", kustomization)
	if output, err := apply.CombinedOutput(); err != nil {
		return Identity{}, fmt.Errorf("kubectl apply -k %s: %w\n%s", kustomization, err, output)
	}
	deployments, err := c.Client().AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return Identity{}, fmt.Errorf("find what %s deploys: %w", kustomization, err)
	}
	if len(deployments.Items) != 1 {
		return Identity{}, fmt.Errorf("%s makes %d Deployments; which one is the scheduler's?", kustomization, len(deployments.Items))
	}
	d := deployments.Items[0]
	return ServiceAccount(d.Namespace, d.Spec.Template.Spec.ServiceAccountName), nil
}
