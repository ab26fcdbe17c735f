package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// outcome is what a client makes of an exchange.
type outcome struct {
	status int // 0: no answer
	whole  bool
	body   string
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d, whole %v, %q", o.status, o.whole, o.body)
}

const made = `{"made":"a thing"}`

func TestEachKindDoesWhatItSays(t *testing.T) {
	none := func(o outcome) bool { return o.status == 0 }
	whole := func(o outcome) bool { return o.status == http.StatusCreated && o.whole && o.body == made }
	broken := func(o outcome) bool { return o.status == http.StatusCreated && !o.whole }
	refused := func(status int) func(outcome) bool {
		return func(o outcome) bool {
			return o.status == status && o.whole && (o.body == "" || strings.Contains(o.body, `"kind":"Status"`))
		}
	}
	for _, c := range []struct {
		kind  Kind
		sees  func(outcome) bool
		acted int64
	}{
		{Latency, whole, 1},
		{Reset, none, 0},
		{HalfClosed, none, 0},
		{Silence, none, 0},
		{Truncated, broken, 1},
		{WrongFraming, broken, 1},
		{WrongCertificate, none, 0},
		{Redirect, func(o outcome) bool { return o.whole && slices.Contains(redirects, o.status) }, 0},
		{Unauthorized, refused(http.StatusUnauthorized), 0},
		{Forbidden, refused(http.StatusForbidden), 0},
		{TooManyRequests, refused(http.StatusTooManyRequests), 0},
		{InternalError, refused(http.StatusInternalServerError), 0},
		{Unavailable, refused(http.StatusServiceUnavailable), 0},
		{LostAnswer, none, 1},
		{FalseError, refused(http.StatusInternalServerError), 1},
		{DoubledRequest, whole, 2},
		{DoubledAnswer, whole, 1},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			w := newWorld(t)
			w.proxy.Set(Storm(c.kind))
			if got := w.post(); !c.sees(got) {
				t.Errorf("the client sees %v", got)
			}
			eventually(t, "the server acts as often as it should", func() bool { return w.acted.Load() == c.acted })
			counts := w.proxy.Counts()
			if counts[c.kind] != 1 || counts.Total() != 1 {
				t.Errorf("counted: %v", counts)
			}
			w.proxy.Set(Calm())
			w.client.CloseIdleConnections()
			if got := w.post(); !whole(got) {
				t.Errorf("afterwards the client sees %v", got)
			}
			if w.proxy.Trapped() != 0 || w.proxy.Misled() != 0 {
				t.Errorf("trapped %d, misled %d", w.proxy.Trapped(), w.proxy.Misled())
			}
		})
	}
}

func TestWatchesBreakAfterAWhile(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		whole bool
	}{{Reset, false}, {HalfClosed, false}, {Truncated, false}, {WrongFraming, false}} {
		t.Run(c.kind.String(), func(t *testing.T) {
			w := newWorld(t)
			w.proxy.Set(Storm(c.kind))
			watches := 0
			eventually(t, "a watch breaks after some of it", func() bool { // on a busy machine it may break before
				watches++
				got := w.do(http.MethodGet, "/things?watch=1")
				if got.status != http.StatusOK || got.whole != c.whole {
					t.Errorf("the client sees %v", got)
				}
				return strings.HasPrefix(got.body, "0\n1\n")
			})
			if n := w.proxy.Counts()[c.kind]; n != watches {
				t.Errorf("counted %d of %d", n, watches)
			}
		})
	}
}

func TestATruncatedEventIsInTheWatchsOwnEncoding(t *testing.T) {
	const inJSON = `{"type":"MODIFIED",`
	const inProtobuf = "\x00\x00\x01\x00\x0a\x08MODIFIED" // 256 bytes, it says
	for _, c := range []struct{ contentType, sees, not string }{
		{"application/json", inJSON, inProtobuf},
		{"application/vnd.kubernetes.protobuf;stream=watch", inProtobuf, inJSON},
	} {
		t.Run(c.contentType, func(t *testing.T) {
			w := newWorld(t)
			w.proxy.Set(Storm(Truncated))
			got := w.do(http.MethodGet, "/things?watch=1&type="+url.QueryEscape(c.contentType))
			if got.whole || !strings.Contains(got.body, c.sees) || strings.Contains(got.body, c.not) {
				t.Errorf("the client sees %v", got)
			}
		})
	}
}

func TestAStalledWatchGoesOnOrEnds(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Weather{WatchRate: 1, Kinds: []Kind{StalledWatch}})
	eventually(t, "a watch that stalls is cut", func() bool { // on a busy machine it may end in good order before
		stalled := w.proxy.Counts()[StalledWatch]
		response, err := w.client.Get(w.proxy.URL() + "/things?watch=1")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		eventually(t, "it stalls", func() bool { return w.proxy.Counts()[StalledWatch] > stalled })
		w.proxy.Cut()
		_, err = io.ReadAll(response.Body)
		return err != nil
	})
}

func TestARainBringsAllItsKinds(t *testing.T) {
	w := newWorld(t)
	kinds := []Kind{InternalError, Forbidden, Reset, LostAnswer}
	w.proxy.Set(Weather{Rate: 0.5, Kinds: kinds})
	for range 100 {
		w.post()
	}
	counts := w.proxy.Counts()
	for _, kind := range kinds {
		if counts[kind] < 5 {
			t.Errorf("%v", counts)
		}
	}
	if total := counts.Total(); total < 30 || total > 70 {
		t.Errorf("%d faults in 100 requests at a rate of 0.5", total)
	}
}

func TestOfWatchesInARowOneGoesWell(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Weather{WatchRate: 1, WatchLife: time.Millisecond, MostInARow: 3, Kinds: []Kind{InternalError}})
	for i := range 8 {
		got := w.do(http.MethodGet, "/things?watch=1")
		if well := i%4 == 3; (got.status == http.StatusOK) != well {
			t.Errorf("watch %d: the client sees %v", i, got)
		}
		if got := w.do(http.MethodGet, "/others?watch=1"); i == 0 && got.status == http.StatusOK {
			t.Error("another's row counts")
		}
	}
}

func TestSortsOfRequests(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{http.MethodGet, "/api/v1/nodes", "get nodes"},
		{http.MethodGet, "/api/v1/nodes?watch=1", "watch nodes"},
		{http.MethodGet, "/api/v1/namespaces/a/pods/b", "get pods"},
		{http.MethodPost, "/api/v1/namespaces/a/pods/b/binding", "create pods/binding"},
		{http.MethodPatch, "/api/v1/namespaces/a/pods/b/status?timeout=5s", "patch pods/status"},
		{http.MethodGet, "/api/v1/namespaces/a", "get namespaces"},
		{http.MethodPost, "/apis/events.k8s.io/v1/namespaces/a/events", "create events"},
		{http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "update leases"},
		{http.MethodGet, "/version", "get version"},
		{http.MethodGet, "/", "get "},
	} {
		if got := whatOf(httptest.NewRequest(c.method, c.path, nil)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.path, got, c.want)
		}
	}
}

func TestRefusalsVary(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		kind Kind
		of   func(*http.Response) string
		want int
	}{
		{Redirect, func(r *http.Response) string { return r.Status }, len(redirects)},
		{TooManyRequests, func(r *http.Response) string { return r.Header.Get("Retry-After") }, mostRetryAfter + 1},
	} {
		seen := map[string]bool{}
		for range 100 {
			w.proxy.Set(Storm(c.kind))
			response, err := w.client.Get(w.proxy.URL() + "/things")
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			seen[c.of(response)] = true
		}
		if len(seen) != c.want {
			t.Errorf("%v: %v", c.kind, seen)
		}
	}
}

func TestFollowersOfRedirectsAreCounted(t *testing.T) {
	w := newWorld(t)
	w.client.CheckRedirect = nil
	w.proxy.Set(Storm(Redirect))
	w.post()
	eventually(t, "the follower is trapped", func() bool { return w.proxy.Trapped() == 1 })
}

// world is a client, the proxy, and a server that counts how often it acts.
type world struct {
	proxy  *Proxy
	client *http.Client
	acted  atomic.Int64
	notes  notes // of what it let pass
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	server := httptest.NewTLSServer(http.HandlerFunc(w.serve))
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	proxy, err := Start(Options{
		Upstream:    &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: authority}},
		Certificate: server.TLS.Certificates[0], Wrong: []tls.Certificate{stranger(t)}, Seed: 1, Witness: &w.notes,
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	w.proxy = proxy
	w.client = &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		proxy.Close()
		server.Close()
	})
	return w
}

func (w *world) serve(to http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v1/nodes" {
		serveNodes(to, r)
		return
	}
	if classOf(r) != watches {
		w.acted.Add(1)
		to.WriteHeader(http.StatusCreated)
		_, _ = to.Write([]byte(made))
		return
	}
	if contentType := r.URL.Query().Get("type"); contentType != "" {
		to.Header().Set("Content-Type", contentType)
	}
	for i := 0; r.Context().Err() == nil; i++ {
		fmt.Fprintln(to, i)
		_ = http.NewResponseController(to).Flush()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-r.Context().Done():
		}
	}
}

func (w *world) post() outcome { return w.do(http.MethodPost, "/things") }

func (w *world) do(method, path string) outcome { return w.send(method, path, "{}") }

func (w *world) send(method, path, content string) (o outcome) {
	request, err := http.NewRequest(method, w.proxy.URL()+path, strings.NewReader(content))
	if err != nil {
		return o
	}
	response, err := w.client.Do(request)
	if err != nil {
		return o
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return outcome{response.StatusCode, err == nil, string(body)}
}

// stranger is a certificate that no client trusts.
func stranger(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// eventually waits for a condition, up to a minute.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
