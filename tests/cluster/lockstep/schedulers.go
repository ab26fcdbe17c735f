package lockstep

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"gpu-scheduler.io/tests/cluster/controlplane"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schedulerName is what all pods name, so that they are the same at both.
const schedulerName = "gpu-scheduler"

// settingsOfTheirs make kube-scheduler score all nodes that fit.
const settingsOfTheirs = "percentageOfNodesToScore: 100\n"

// theirs is kube-scheduler behind its API server.
type theirs struct {
	*side
	port int
}

func (o *theirs) schedule(ctx context.Context) (err error) {
	if o.port, err = controlplane.FreePort(); err != nil {
		return err
	}
	o.process, err = o.cluster.StartKubeScheduler(ctx, controlplane.SchedulerOptions{Name: schedulerName, Settings: settingsOfTheirs, Port: o.port,
		Args: []string{"--authorization-always-allow-paths=/healthz,/metrics", featureGates}})
	return err
}

// pendingPods are lines of kube-scheduler's metrics.
var pendingPods = regexp.MustCompile(`(?m)^scheduler_pending_pods\{queue="(\w+)"\} (\d+)$`)

// settled waits until kube-scheduler has put the pod aside or bound it. A pod that it is about to try, or is trying, is in another of its
// queues, or in none. No other pod may wait.
func (o *theirs) settled(ctx context.Context, pod *corev1.Pod) (Answer, error) {
	for end := time.Now().Add(patience); ; {
		page, err := get(ctx, fmt.Sprintf("https://127.0.0.1:%d/metrics", o.port), "")
		if err != nil {
			return Answer{}, fmt.Errorf("%s: %w", o.name, err)
		}
		pending := map[string]int{}
		for _, line := range pendingPods.FindAllStringSubmatch(string(page), -1) {
			pending[line[1]], _ = strconv.Atoi(line[2]) // of digits alone
		}
		now, _ := o.seen(pod)
		if now == nil {
			return Answer{}, fmt.Errorf("%s: pod %s is gone", o.name, keyOf(pod))
		}
		if answer := answerOf(now); answer.Node != "" || pending["unschedulable"] == 1 && pending["active"] == 0 && pending["backoff"] == 0 {
			return answer, nil
		}
		if time.Now().After(end) {
			return Answer{}, nil
		}
		if err := pause(ctx); err != nil {
			return Answer{}, err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(5 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ours is gpu-scheduler behind its API server.
type ours struct {
	*side
	port  int
	token string // of an account that may ask about pods
}

func (o *ours) schedule(ctx context.Context, s Settings) error {
	who, err := o.cluster.ApplyScheduler(ctx, s.Manifests)
	if err != nil {
		return err
	}
	kubeconfig, err := o.cluster.KubeconfigFor(who)
	if err != nil {
		return err
	}
	if o.port, err = controlplane.FreePort(); err != nil {
		return err
	}
	if o.token, err = o.askersToken(ctx); err != nil {
		return err
	}
	o.process, err = o.cluster.StartChild("gpu-scheduler", nil, s.Scheduler, "--config", s.Policy, "--kubeconfig", kubeconfig,
		"--http-bind-address=127.0.0.1:0", fmt.Sprintf("--secure-port=%d", o.port))
	return err
}

// askersToken is good for a day, as the certificates are.
func (o *ours) askersToken(ctx context.Context) (string, error) {
	const namespace, name = "kube-system", "lockstep"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := o.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("create the account that asks: %w", err)
	}
	_, err := o.client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("let the account ask: %w", err)
	}
	seconds := int64(24 * 60 * 60)
	granted, err := o.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for the account that asks: %w", err)
	}
	return granted.Status.Token, nil
}

// candidates are the nodes that gpu-scheduler would place the pod on as the cluster is now, with their scores. It judges as if the pod held nothing, so that
// they are the same after the pod was bound as before.
func (o *ours) candidates(ctx context.Context, pod *corev1.Pod) ([]Candidate, error) {
	about := url.Values{"namespace": {pod.Namespace}, "pod": {pod.Name}, "limit": {"10000"}}
	page, err := get(ctx, fmt.Sprintf("https://127.0.0.1:%d/candidates?%s", o.port, about.Encode()), o.token)
	if err != nil {
		return nil, fmt.Errorf("%s: candidates of %s: %w", o.name, keyOf(pod), err)
	}
	var answer struct{ Candidates []Candidate }
	if err := json.Unmarshal(page, &answer); err != nil {
		return nil, fmt.Errorf("%s: candidates of %s: %w", o.name, keyOf(pod), err)
	}
	return answer.Candidates, nil
}

// asker is for our own processes: their certificates prove nothing.
var asker = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: patience} //nolint:gosec // loopback

// get asks for a page. What is busy is asked again.
func get(ctx context.Context, page, token string) ([]byte, error) {
	for end := time.Now().Add(patience); ; {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return nil, err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := asker.Do(request)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		switch response.StatusCode {
		case http.StatusOK:
			return body, nil
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			if time.Now().Before(end) {
				if err := pause(ctx); err != nil {
					return nil, err
				}
				continue
			}
		}
		return nil, fmt.Errorf("%s answers %s: %s", page, response.Status, body)
	}
}
