// Package faults is a proxy between a client and an API server that does to them what networks, proxies and servers in trouble do: it
// holds requests back, resets connections, closes half of them, cuts answers off, frames them wrongly, shows a wrong certificate, answers
// in the server's place, loses or doubles what was said *after* the server has acted, and stalls watches.
//
// A Weather says how often and which kinds. It is drawn from a seed: each class of requests (calls that read, calls that write, watches) has a deck of
// the kinds that can befall it, which is shuffled and dealt from, so that all of them come equally often. Which request meets which one
// depends on the order in which requests come, and that is the world's. Every fault is counted once it has happened; a
// test asserts that its kinds did.
//
// The proxy speaks HTTP/1.1 with TLS on both sides: a client must be able to tell a broken answer from a whole one by itself, and that is what is
// tried. It does not lie about objects: what it passes on of a body is what the server said.
package faults

import (
	"fmt"
	"net/http"
	"strings"
)

// Kind of a fault.
type Kind int

// The kinds. "Not passed on" means that the server never hears of the request.
const (
	Latency          Kind = iota // the request, or its answer, is held back for up to 800 ms
	Reset                        // the connection is reset (RST); not passed on. A watch: after some events
	HalfClosed                   // the proxy ends its half of the connection without a word (FIN, no close_notify); not passed on
	Silence                      // no answer at all, on a connection that stays; not passed on
	Truncated                    // the server acts; its answer breaks off in the middle
	WrongFraming                 // the server acts; its answer's chunks are no chunks
	WrongCertificate             // a handshake meets a certificate of an unknown authority, for another host, or out of date
	Redirect                     // 301, 302, 303, 307 or 308, one of them in a weather, to a server that must get no request; not passed on
	Unauthorized                 // 401; not passed on
	Forbidden                    // 403; not passed on
	TooManyRequests              // 429 with Retry-After: 0 to 3; not passed on
	InternalError                // 500; not passed on
	Unavailable                  // 503; not passed on
	LostAnswer                   // the server acts; the connection ends without its answer
	FalseError                   // the server acts; its answer is replaced with 500
	DoubledRequest               // the server gets it twice, at once or a moment later; one answer is passed on
	DoubledAnswer                // the server's answer is sent twice; nothing further may be asked on such a connection
	StalledWatch                 // a watch passes on nothing for a while, then all of it or its end
	kinds
)

var kindNames = [kinds]string{
	"latency", "reset", "half-closed", "silence", "truncated", "wrong framing", "wrong certificate", "redirect", "401", "403", "429", "500", "503",
	"lost answer", "false 500", "doubled request", "doubled answer", "stalled watch",
}

func (k Kind) String() string { return kindNames[k] }

// All kinds there are.
func All() (all []Kind) {
	for k := range kinds {
		all = append(all, k)
	}
	return all
}

// class of a request, which decides what can befall it.
type class int

const (
	reads class = iota // safe to repeat
	writes
	watches // an answer that goes on until one side ends it
	handshakes
	classes
)

func (c class) String() string { return [classes]string{"reads", "writes", "watches", "handshakes"}[c] }

func classOf(r *http.Request) class {
	query := r.URL.Query()
	switch {
	case query.Get("watch") == "1" || query.Get("watch") == "true":
		return watches
	case r.Method == http.MethodGet:
		return reads
	default:
		return writes
	}
}

// verbs of calls in Kubernetes' words.
var verbs = map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}

// whatOf says what is asked for in Kubernetes' words: verb, resource and subresource.
func whatOf(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	parts = parts[min(len(parts), map[string]int{"api": 2, "apis": 3}[parts[0]]):] // the group and its version
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	verb := verbs[r.Method]
	if classOf(r) == watches {
		verb = "watch"
	}
	switch len(parts) {
	case 0:
		return verb
	case 1, 2:
		return verb + " " + parts[0]
	default:
		return verb + " " + parts[0] + "/" + parts[2]
	}
}

// befalls tells whether a request of a class can meet a kind.
func (k Kind) befalls(c class) bool {
	switch k {
	case WrongCertificate:
		return c == handshakes
	case StalledWatch:
		return c == watches
	case DoubledRequest:
		return c == writes
	case LostAnswer, FalseError, DoubledAnswer:
		return c == writes || c == reads
	default:
		return c != handshakes
	}
}

// refusals are the answers that the proxy gives in the server's place: the status and its reason in Kubernetes' words.
var refusals = map[Kind]struct {
	status int
	reason string
}{
	Unauthorized:    {http.StatusUnauthorized, "Unauthorized"},
	Forbidden:       {http.StatusForbidden, "Forbidden"},
	TooManyRequests: {http.StatusTooManyRequests, "TooManyRequests"},
	InternalError:   {http.StatusInternalServerError, "InternalError"},
	FalseError:      {http.StatusInternalServerError, "InternalError"},
	Unavailable:     {http.StatusServiceUnavailable, "ServiceUnavailable"},
}

// redirects are all that there are.
var redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// mostRetryAfter is the longest that a 429 asks for, in seconds.
const mostRetryAfter = 3

// statusBody is a metav1.Status.
func statusBody(code int, reason string) []byte {
	return fmt.Appendf(nil, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"a fault was injected: %s","reason":%q,"code":%d}`,
		reason, reason, code)
}
