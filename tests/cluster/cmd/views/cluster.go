package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"
	"gpu-scheduler.io/tests/cluster/internal/load"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	schedulerName = "gpu-scheduler"
	someone       = "someone" // who may read everything, and see the page
	tenant        = "tenant"  // who may read the pods of one namespace
	askedPod      = "waiting-00000"
)

// cluster is a control plane with everything in it, and the accounts of those who look.
type cluster struct {
	settings
	plane     *controlplane.ControlPlane
	client    kubernetes.Interface // without a rate limit, in protobuf
	account   string               // kubeconfig of the scheduler's account
	someone   string               // and of the others'
	tenant    string
	port      int // of the scheduler's secure port
	scheduler *controlplane.Process
}

func space(i int) string { return fmt.Sprintf("team-%03d", i) }

// server is the scheduler's, for those who ask it without the API server in between.
func (c *cluster) server() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

func (c *cluster) program(name string) string { return filepath.Join(c.built, name) }

// fill makes accounts, nodes, quotas and pods.
func (c *cluster) fill(ctx context.Context) error {
	config := c.plane.Config()
	config.QPS, config.ContentType, config.AcceptContentTypes = -1, "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	var err error
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		return err
	}
	if _, err := c.plane.ApplyScheduler(ctx, filepath.Join(root, "manifests/base")); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"namespaces and quotas", c.createQuotas}, {"accounts", c.createAccounts},
		{"nodes", func(ctx context.Context) error { return load.CreateNodes(ctx, c.client, c.Nodes) }},
		{"pods that run", c.createRunning}, {"pods that wait", c.createWaiting},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("create %s: %w", step.what, err)
		}
		progress("created %s", step.what)
	}
	return nil
}

func (c *cluster) createAccounts(ctx context.Context) (err error) {
	if c.account, err = c.plane.TokenKubeconfig(ctx, "gpu-scheduler", "gpu-scheduler"); err != nil {
		return err
	}
	if c.someone, err = c.plane.TokenKubeconfig(ctx, metav1.NamespaceDefault, someone); err != nil {
		return err
	}
	if c.tenant, err = c.plane.TokenKubeconfig(ctx, space(0), tenant); err != nil {
		return err
	}
	for _, role := range []string{"gpu-scheduler-reader", "gpu-scheduler-ui"} {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: someone + "-" + role},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: someone}}}
		if _, err := c.client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: tenant, Namespace: space(0)},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}}}
	if _, err := c.client.RbacV1().Roles(space(0)).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: tenant, Namespace: space(0)},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: tenant},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: space(0), Name: tenant}}}
	_, err = c.client.RbacV1().RoleBindings(space(0)).Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// createQuotas makes a namespace and a quota of it, over and over. Of every other quota all is in use.
func (c *cluster) createQuotas(ctx context.Context) error {
	config := c.plane.Config()
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	quotas := client.Resource(schema.GroupVersionResource{Group: "gpu-scheduler.io", Version: "v1alpha1", Resource: "gpuquotas"})
	return load.InParallel(ctx, c.Quotas, func(i int) error {
		if err := load.CreateNamespace(ctx, c.client, space(i)); err != nil {
			return err
		}
		used := (c.Running + c.Quotas - 1 - i) / c.Quotas // of the running pods, dealt out in turn
		guaranteed := used
		if i%2 == 0 {
			guaranteed *= 4
		}
		quota := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "gpu-scheduler.io/v1alpha1", "kind": "GpuQuota",
			"metadata": map[string]any{"name": space(i)},
			"spec": map[string]any{
				"namespaces": []any{space(i)},
				"quotas":     []any{map[string]any{"gpuType": "*", "guaranteed": fmt.Sprint(guaranteed)}},
			},
		}}
		_, err := quotas.Create(ctx, quota, metav1.CreateOptions{})
		return err
	})
}

func (c *cluster) createRunning(ctx context.Context) error {
	return load.InParallel(ctx, c.Running, func(i int) error {
		pod := c.pod(i, "running", 1)
		pod.Spec.NodeName = load.NodeName(i / load.GPUsPerNode)
		_, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

func (c *cluster) createWaiting(ctx context.Context) error {
	return load.InParallel(ctx, c.Waiting, func(i int) error {
		pod := c.pod(i, "waiting", 1<<(i/c.Quotas%4))
		_, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

func (c *cluster) pod(i int, kind string, gpus int64) *corev1.Pod {
	return fixture.Pod(space(i%c.Quotas), fmt.Sprintf("%s-%05d", kind, i), schedulerName,
		fixture.GPUs(gpus), fixture.Requests(corev1.ResourceCPU, "4"), fixture.Requests(corev1.ResourceMemory, "16Gi"))
}

// startScheduler starts it and waits until it has told every waiting pod why it waits.
func (c *cluster) startScheduler(ctx context.Context) error {
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		return err
	}
	if c.port, err = controlplane.FreePort(); err != nil {
		return err
	}
	c.scheduler, err = c.plane.StartChild("gpu-scheduler", nil, c.program("gpu-scheduler"), "--config", filepath.Join(root, "manifests/base/config.yaml"),
		"--kubeconfig", c.account, "--http-bind-address=0", fmt.Sprintf("--secure-port=%d", c.port), "--ui", "--answers")
	if err != nil {
		return err
	}
	return c.awaitConditions(ctx)
}

func (c *cluster) awaitConditions(ctx context.Context) error {
	for {
		var count atomic.Int64
		err := load.InParallel(ctx, c.Quotas, func(i int) error {
			pods, err := c.client.CoreV1().Pods(space(i)).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=", ResourceVersion: "0"})
			if err != nil {
				return err
			}
			for _, pod := range pods.Items {
				if len(pod.Status.Conditions) > 0 {
					count.Add(1)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		told := int(count.Load())
		if told == c.Waiting {
			return nil
		}
		progress("%d of %d pods have been told why they wait", told, c.Waiting)
		select {
		case <-time.After(5 * time.Second):
		case <-c.scheduler.Done():
			return fmt.Errorf("the scheduler ended: %w", c.scheduler.Wait())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// configOf is what a kubeconfig says: where the API server is, and the account's token.
func configOf(kubeconfig string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}
