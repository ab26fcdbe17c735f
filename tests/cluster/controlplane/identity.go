package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Identity is the user that a client is for the API server.
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

// Account is the namespace and the name of the service account that this is, if it is one.
func (who Identity) Account() (namespace, name string, is bool) {
	account, is := strings.CutPrefix(who.User, "system:serviceaccount:")
	namespace, name, _ = strings.Cut(account, ":")
	return namespace, name, is
}

// KubeconfigFor writes a kubeconfig with a client certificate for the identity and returns its path. It is good for a
// day, across restarts of the API server. It contains everything inline, so it may be copied.
func (c *ControlPlane) KubeconfigFor(who Identity) (string, error) {
	cert, err := c.ca.client(who, time.Now().Add(certificateLife))
	if err != nil {
		return "", fmt.Errorf("sign a certificate for %s: %w", who.User, err)
	}
	return c.writeKubeconfig(who.User, api.AuthInfo{ClientCertificateData: cert.certificate, ClientKeyData: cert.key})
}

// TokenKubeconfig writes a kubeconfig with a bearer token of a service account (TokenRequest, one hour) and returns its path.
// Namespace and account are made where they are missing; what the account may do is for the caller to grant.
func (c *ControlPlane) TokenKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	token, err := c.requestToken(ctx, namespace, name, nil)
	if err != nil {
		return "", err
	}
	return c.writeKubeconfig("token:"+namespace+":"+name, api.AuthInfo{Token: token})
}

// TokenFileKubeconfig writes a kubeconfig for a service account with a token that is read from a file, as in a pod, and returns its path.
func (c *ControlPlane) TokenFileKubeconfig(namespace, name, file string) (string, error) {
	return c.writeKubeconfig("tokenfile:"+namespace+":"+name, api.AuthInfo{TokenFile: file})
}

// BoundToken requests a token like the one that kubelet gives a pod: of a service account, and good for no longer than an object is there that it is
// bound to. Here that is a secret in the account's namespace, which it makes.
func (c *ControlPlane) BoundToken(ctx context.Context, namespace, name, secret string) (string, error) {
	if err := ensureAccount(ctx, c.Client(), namespace, name); err != nil {
		return "", err
	}
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret}}
	object, err := c.Client().CoreV1().Secrets(namespace).Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create secret %s/%s: %w", namespace, secret, err)
	}
	return c.requestToken(ctx, namespace, name,
		&authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: secret, UID: object.UID})
}

func (c *ControlPlane) requestToken(ctx context.Context, namespace, name string, to *authenticationv1.BoundObjectReference) (string, error) {
	client := c.Client()
	if err := ensureAccount(ctx, client, namespace, name); err != nil {
		return "", err
	}
	seconds := int64(3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds, BoundObjectRef: to}}
	granted, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for %s/%s: %w", namespace, name, err)
	}
	return granted.Status.Token, nil
}

// Credential proves a client's identity: a token, or a certificate with its key in PEM.
type Credential struct {
	Token            string
	Certificate, Key []byte
}

// Admits returns whether the API server accepts that credential; if not, it answers 401.
func (c *ControlPlane) Admits(ctx context.Context, with Credential) (bool, error) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: c.URL(), BearerToken: with.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca.pem, CertData: with.Certificate, KeyData: with.Key}})
	if err != nil {
		return false, err
	}
	_, err = client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if apierrors.IsUnauthorized(err) {
		return false, nil
	}
	return err == nil, err
}

// Plugin is a credential plugin for a client certificate.
type Plugin struct {
	Kubeconfig string
	Command    string     // the program, a script
	First      Credential // what it prints if it is run at once, and never again
	runs       string
}

// Runs is how often the plugin has been run.
func (p *Plugin) Runs() int {
	content, _ := os.ReadFile(p.runs)
	return bytes.Count(content, []byte("\n"))
}

// ExecKubeconfig writes a kubeconfig with a credential plugin as its user. The plugin prints a client certificate for the identity that is good for one to two
// times `life`, whole seconds, when it is printed, and no longer: the API server refuses it then. They are signed ahead, one for each `life`, enough for `until`.
func (c *ControlPlane) ExecKubeconfig(who Identity, life, until time.Duration) (*Plugin, error) {
	dir, err := os.MkdirTemp(c.dir, "plugin-")
	if err != nil {
		return nil, err
	}
	p := &Plugin{Command: filepath.Join(dir, "login"), runs: filepath.Join(dir, "runs")}
	seconds := int64(life.Seconds())
	for ends := time.Unix(time.Now().Unix()/seconds*seconds, 0).Add(2 * life); time.Until(ends) < until; ends = ends.Add(life) {
		cert, err := c.ca.client(who, ends)
		if err != nil {
			return nil, fmt.Errorf("sign a certificate for %s: %w", who.User, err)
		}
		if p.First.Key == nil {
			p.First = Credential{Certificate: cert.certificate, Key: cert.key}
		}
		credential, err := json.Marshal(map[string]any{"kind": "ExecCredential", "apiVersion": execVersion, "status": map[string]string{
			"clientCertificateData": string(cert.certificate), "clientKeyData": string(cert.key), "expirationTimestamp": ends.UTC().Format(time.RFC3339)}})
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(ends.Unix())), credential, 0o600); err != nil {
			return nil, err
		}
	}
	script := fmt.Sprintf(`#!/bin/sh
cd "$(dirname "$0")"
echo run >> runs
cat $(($(date +%%s) / %[1]d * %[1]d + 2 * %[1]d))
`, seconds)
	if err := os.WriteFile(p.Command, []byte(script), 0o700); err != nil {
		return nil, err
	}
	p.Kubeconfig, err = c.writeKubeconfig("exec:"+who.User, api.AuthInfo{Exec: &api.ExecConfig{
		APIVersion: execVersion, Command: p.Command, InteractiveMode: api.NeverExecInteractiveMode}})
	return p, err
}

const execVersion = "client.authentication.k8s.io/v1"

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
	// Another test's process may be reading the file of the same user: it is replaced as a whole.
	file, err := os.CreateTemp(c.dir, "kubeconfig-new-")
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(file.Name(), path)
}
