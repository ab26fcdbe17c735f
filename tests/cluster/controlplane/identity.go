package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
