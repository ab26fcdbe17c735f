package faults

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// notes are a Witness's.
type notes struct {
	mu    sync.Mutex
	taken []string
}

func (n *notes) NodesShown(revision int64)  { n.take(fmt.Sprintf("nodes %d", revision)) }
func (n *notes) BindAsked(pod, node string) { n.take(pod + " to " + node) }

func (n *notes) take(note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken = append(n.taken, note)
}

func (n *notes) are(want ...string) func() bool {
	return func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return slices.Equal(n.taken, want)
	}
}

// serveNodes answers with the changes that a request names in "tell", resource versions with "+" before that of the bookmark at the end of what there is, in
// the encoding named in "type", and then ends; or, if it is no watch, with a list of that version.
func serveNodes(to http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	encoding := query.Get("type")
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), encoding)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	to.Header().Set("Content-Type", encoding)
	if classOf(r) != watches {
		list := &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: query.Get("tell"), Continue: query.Get("more")}}
		_ = encoder.Encode(list, to)
		return
	}
	embedded := scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, corev1.SchemeGroupVersion)
	frames := info.StreamSerializer.Framer.NewFrameWriter(to)
	events := restwatch.NewEncoder(streaming.NewEncoder(frames, embedded), encoder)
	for _, version := range strings.Split(query.Get("tell"), ",") {
		node, kind := &corev1.Node{}, watch.Modified
		if bare, isEnd := strings.CutPrefix(version, "+"); isEnd {
			version, kind = bare, watch.Bookmark
			node.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		}
		node.ResourceVersion = version
		_ = events.Encode(&watch.Event{Type: kind, Object: node})
	}
}

func TestWitness(t *testing.T) {
	const asJSON, asProtobuf = "application/json", "application/vnd.kubernetes.protobuf"
	for _, encoding := range []string{asJSON, asProtobuf} {
		for _, c := range []struct {
			name, query string
			kind        Kind
			want        []string
		}{
			{"a list", "tell=7", Latency, []string{"nodes 7"}},
			{"a page of a list", "tell=7&more=x", Latency, nil},
			{"a list that breaks off", "tell=7", Truncated, nil},
			{"some nodes only", "tell=7&labelSelector=a", Latency, nil},
			{"a watch", "watch=1&tell=7,9,12", Latency, []string{"nodes 7", "nodes 9", "nodes 12"}},
			{"a watch that is refused", "watch=1&tell=7", Forbidden, nil},
			{"what there is, and what comes then", "watch=1&sendInitialEvents=true&tell=9,7,%2B10,12", Latency, []string{"nodes 10", "nodes 12"}},
			{"what there is, breaking off", "watch=1&sendInitialEvents=true&tell=9,7", Latency, nil},
		} {
			t.Run(c.name+", "+encoding, func(t *testing.T) {
				w := newWorld(t)
				w.proxy.Set(Weather{Rate: 1, WatchRate: 1, Kinds: []Kind{c.kind}}) // a storm that ends no watch
				w.do(http.MethodGet, "/api/v1/nodes?type="+url.QueryEscape(encoding)+"&"+c.query)
				eventually(t, fmt.Sprintf("it notes %v", c.want), w.notes.are(c.want...))
				w.proxy.Set(Calm())
				w.do(http.MethodGet, "/api/v1/nodes?tell=99&type="+url.QueryEscape(encoding))
				eventually(t, "it notes nothing else", w.notes.are(append(c.want, "nodes 99")...))
			})
		}
	}
}

func TestWitnessOfBindsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	w.proxy.Set(Storm(Unavailable))
	w.send(http.MethodPost, "/api/v1/namespaces/a/pods/b/binding", `{"kind":"Binding","apiVersion":"v1","target":{"kind":"Node","name":"n"}}`)
	w.send(http.MethodPost, "/api/v1/namespaces/a/pods", `{"kind":"Pod","apiVersion":"v1"}`)
	eventually(t, "it notes the bind", w.notes.are("a/b to n"))
}
