package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Identity is whom the API server takes a client for.
type Identity struct {
	User   string
	Groups []string
}

// Admin may do everything, and is exempt from API Priority and Fairness.
var Admin = Identity{User: "admin", Groups: []string{"system:masters"}}

// KubeScheduler and KubeControllerManager are the identities that upstream's components have in every cluster. The API server
// makes their RBAC rules itself.
var (
	KubeScheduler         = Identity{User: "system:kube-scheduler"}
	KubeControllerManager = Identity{User: "system:kube-controller-manager"}
)

// ServiceAccount is the identity of an account, groups included, so that RBAC and flow control treat a client certificate
// like the account's own token.
func ServiceAccount(namespace, name string) Identity {
	return Identity{
		User:   "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace},
	}
}

// KubeconfigFor writes a kubeconfig with a client certificate for the identity and returns its path. It is good for a
// day, across restarts of the API server. It contains everything inline, so it may be copied.
func (c *ControlPlane) KubeconfigFor(who Identity) (string, error) {
	cert, err := c.ca.client(who)
	if err != nil {
		return "", fmt.Errorf("sign a certificate for %s: %w", who.User, err)
	}
	return c.writeKubeconfig(who.User, api.AuthInfo{ClientCertificateData: cert.certificate, ClientKeyData: cert.key})
}

// TokenKubeconfig writes a kubeconfig with a bearer token of a service account (TokenRequest, one hour) and returns its path.
// Namespace and account are made where they are missing; what the account may do is for the caller to grant.
func (c *ControlPlane) TokenKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	client := c.Client()
	if err := ensureAccount(ctx, client, namespace, name); err != nil {
		return "", err
	}
	seconds := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	granted, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for %s/%s: %w", namespace, name, err)
	}
	return c.writeKubeconfig("token:"+namespace+":"+name, api.AuthInfo{Token: granted.Status.Token})
}

// ExecKubeconfig writes a kubeconfig whose user is a credential plugin, and returns its path. The plugin prints a client certificate for
// the identity that it calls good for `life`, another one each time, and adds a line to the file named second.
func (c *ControlPlane) ExecKubeconfig(who Identity, life time.Duration) (path, runs string, err error) {
	dir, err := os.MkdirTemp(c.dir, "plugin-")
	if err != nil {
		return "", "", err
	}
	for _, n := range []string{"0", "1"} {
		cert, err := c.ca.client(who)
		if err != nil {
			return "", "", fmt.Errorf("sign a certificate for %s: %w", who.User, err)
		}
		status, err := json.Marshal(map[string]string{"clientCertificateData": string(cert.certificate), "clientKeyData": string(cert.key),
			"expirationTimestamp": "EXPIRES"})
		if err != nil {
			return "", "", err
		}
		if err := os.WriteFile(filepath.Join(dir, n+".json"), status, 0o600); err != nil {
			return "", "", err
		}
	}
	script := fmt.Sprintf(`#!/bin/sh
cd "$(dirname "$0")"
echo run >> runs
expires=$(date -u -d '+%d seconds' +%%Y-%%m-%%dT%%H:%%M:%%SZ)
status=$(sed "s/EXPIRES/$expires/" $(($(wc -l < runs) %% 2)).json)
printf '%%s' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":' "$status" '}'
`, int(life.Seconds()))
	if err := os.WriteFile(filepath.Join(dir, "login"), []byte(script), 0o700); err != nil {
		return "", "", err
	}
	path, err = c.writeKubeconfig("exec:"+who.User, api.AuthInfo{Exec: &api.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: filepath.Join(dir, "login"), InteractiveMode: api.NeverExecInteractiveMode}})
	return path, filepath.Join(dir, "runs"), err
}

func ensureAccount(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create service account %s/%s: %w", namespace, name, err)
	}
	return nil
}

func (c *ControlPlane) writeKubeconfig(user string, auth api.AuthInfo) (string, error) {
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: c.URL(), CertificateAuthorityData: c.ca.pem}
	config.AuthInfos[user] = &auth
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: user}
	config.CurrentContext = "test"
	path := filepath.Join(c.dir, "kubeconfig."+strings.NewReplacer(":", "-", "/", "-").Replace(user))
	if user == Admin.User {
		path = filepath.Join(c.dir, "kubeconfig")
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("write a kubeconfig for %s: %w", user, err)
	}
	return path, os.WriteFile(path, content, 0o600)
}
