package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// token is the scheduler's, in a file, as kubelet gives one to a pod.
type token struct {
	cluster            *controlplane.ControlPlane
	namespace, account string
	file               string
	number             int // of the one in the file
}

// tokenLife is how long each token is in the file. The scheduler reads it once a minute, so that of the one before nothing is in use any more when
// the next one comes.
const tokenLife = 2 * time.Minute

// newToken applies the scheduler's manifests and writes the first token of its service account.
func newToken(ctx context.Context, cluster *controlplane.ControlPlane, manifests string) (*token, error) {
	who, err := cluster.ApplyScheduler(ctx, manifests)
	if err != nil {
		return nil, err
	}
	t := &token{cluster: cluster, file: filepath.Join(cluster.Dir(), "token")}
	t.namespace, t.account, _ = who.Account()
	return t, t.replace(ctx)
}

// keepNew replaces the token again and again, and has the API server refuse those that must not be used any more.
func (t *token) keepNew(ctx context.Context) error {
	every := time.NewTicker(tokenLife)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
		if err := t.replace(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (t *token) replace(ctx context.Context) error {
	t.number++
	text, err := t.cluster.BoundToken(ctx, t.namespace, t.account, secret(t.number))
	if err != nil {
		return err
	}
	// All at once, as kubelet does: a reader finds the old or the new one.
	aside := t.file + ".new"
	if err := os.WriteFile(aside, []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.Rename(aside, t.file); err != nil || t.number < 3 {
		return err
	}
	return t.cluster.Client().CoreV1().Secrets(t.namespace).Delete(ctx, secret(t.number-2), metav1.DeleteOptions{})
}

// secret is what a token is bound to.
func secret(number int) string { return fmt.Sprintf("soak-token-%d", number) }
