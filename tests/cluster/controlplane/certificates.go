package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs the certificates of one control plane. It is in memory and in the control plane's directory, a day at
// most, and nothing outside the control plane trusts it.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// pair is a certificate and its key, both in PEM.
type pair struct{ certificate, key []byte }

const certificateLife = 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate(pkix.Name{CommonName: "test-cluster-ca"})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{parsed, key, encodePEM("CERTIFICATE", der)}, nil
}

// server signs a certificate for a server on the loopback addresses.
func (a *authority) server() (pair, error) { return a.sign(serving()) }

func serving() *x509.Certificate {
	template := certificate(pkix.Name{CommonName: "kube-apiserver"})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	return template
}

// ServingCertificates are for a server that stands before the API server: one that clients of the control plane accept, and three that they must
// not: expired, for another host, and of an authority that they do not trust.
func (c *ControlPlane) ServingCertificates() (right tls.Certificate, wrong []tls.Certificate, err error) {
	stranger, err := newAuthority()
	if err != nil {
		return right, nil, err
	}
	expired, elsewhere := serving(), serving()
	expired.NotAfter = time.Now().Add(-time.Minute)
	elsewhere.DNSNames, elsewhere.IPAddresses = []string{"elsewhere.invalid"}, nil
	var all []tls.Certificate
	for _, of := range []struct {
		by       *authority
		template *x509.Certificate
	}{{c.ca, serving()}, {c.ca, expired}, {c.ca, elsewhere}, {stranger, serving()}} {
		signed, err := of.by.sign(of.template)
		if err != nil {
			return right, nil, err
		}
		loaded, err := tls.X509KeyPair(signed.certificate, signed.key)
		if err != nil {
			return right, nil, err
		}
		all = append(all, loaded)
	}
	return all[0], all[1:], nil
}

// WriteServingCertificate makes a folder with the tls.crt and tls.key of a server on the loopback addresses, such as a webhook's, that clients of the
// control plane accept. The authority that signed it is the CAData of Config.
func (c *ControlPlane) WriteServingCertificate(dir string) error {
	signed, err := c.ca.server()
	if err != nil {
		return fmt.Errorf("sign a serving certificate: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.crt"), signed.certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "tls.key"), signed.key, 0o600)
}

// client signs a certificate that the API server takes for the given identity, until then.
func (a *authority) client(who Identity, until time.Time) (pair, error) {
	template := certificate(pkix.Name{CommonName: who.User, Organization: who.Groups})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	template.NotAfter = until
	return a.sign(template)
}

func (a *authority) sign(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	keyPEM, err := encodeKey(key)
	return pair{encodePEM("CERTIFICATE", der), keyPEM}, err
}

func certificate(subject pkix.Name) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(fmt.Sprintf("no randomness: %v", err))
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour), // clocks of machines and of containers on them differ
		NotAfter:     time.Now().Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
	}
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return encodePEM("EC PRIVATE KEY", der), err
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// writePKI makes all that the API server reads from files: the authority, its own certificate, and the key that
// signs service account tokens.
func writePKI(dir string) (*authority, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	server, err := ca.server()
	if err != nil {
		return nil, fmt.Errorf("sign the API server's certificate: %w", err)
	}
	tokens, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key for service account tokens: %w", err)
	}
	tokensPEM, err := encodeKey(tokens)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(tokens.Public())
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"ca.crt": ca.pem, "apiserver.crt": server.certificate, "apiserver.key": server.key,
		"tokens.key": tokensPEM, "tokens.pub": encodePEM("PUBLIC KEY", public),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return ca, nil
}
