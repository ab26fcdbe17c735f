package faults

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// Witness is told what a scheduler behind the proxy can know, and when it asks for what. Its methods are called from several goroutines.
type Witness interface {
	// NodesShown: all changes of nodes up to this revision have been passed on to it.
	NodesShown(revision int64)
	// BindAsked: it asks to bind a pod, namespace/name, to a node, whatever becomes of the request.
	BindAsked(pod, node string)
}

// allNodes tells whether an answer to a request shows every node.
func allNodes(r *http.Request) bool {
	query := r.URL.Query()
	return r.Method == http.MethodGet && r.URL.Path == "/api/v1/nodes" && query.Get("fieldSelector")+query.Get("labelSelector") == ""
}

// asked tells the witness of a request to bind.
func (e *exchange) asked() {
	path, isBind := strings.CutSuffix(e.r.URL.Path, "/binding")
	parts := strings.Split(path, "/") // "", api, v1, namespaces, NAMESPACE, pods, NAME
	if e.witness == nil || !isBind || len(parts) != 7 {
		return
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(e.body, nil, nil)
	if binding, ok := object.(*corev1.Binding); err == nil && ok {
		e.witness.BindAsked(parts[4]+"/"+parts[6], binding.Target.Name)
	}
}

// shownList tells the witness of a list that was passed on.
func (e *exchange) shownList(a answer) {
	if e.witness == nil || a.status != http.StatusOK || !allNodes(e.r) {
		return
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(a.body, nil, nil)
	if err != nil {
		return
	}
	if list, err := meta.ListAccessor(object); err == nil && list.GetContinue() == "" {
		e.shown(list.GetResourceVersion())
	}
}

func (e *exchange) shown(resourceVersion string) {
	if revision, err := strconv.ParseInt(resourceVersion, 10, 64); err == nil {
		e.witness.NodesShown(revision)
	}
}

// shownWatch returns what is to be given each piece of a watch that has been passed on, for the witness. Of a piece of an event nothing follows.
func (e *exchange) shownWatch(header http.Header) io.WriteCloser {
	mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	info, known := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if e.witness == nil || !allNodes(e.r) || !known || info.StreamSerializer == nil {
		return nobody{}
	}
	pieces, passedOn := io.Pipe()
	frames := info.StreamSerializer.Framer.NewFrameReader(pieces)
	events := restwatch.NewDecoder(streaming.NewDecoder(frames, info.StreamSerializer.Serializer), scheme.Codecs.UniversalDeserializer())
	go func() {
		defer pieces.Close()
		// What there is comes first if it is asked for, in any order. At its end a bookmark tells up to when it is complete.
		complete := e.r.URL.Query().Get("sendInitialEvents") != "true"
		for {
			_, object, err := events.Decode()
			if err != nil {
				return
			}
			if changed, err := meta.Accessor(object); err == nil {
				complete = complete || changed.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
				if complete {
					e.shown(changed.GetResourceVersion())
				}
			}
		}
	}()
	return passedOn
}

// nobody is a witness that discards what it gets.
type nobody struct{}

func (nobody) Write(piece []byte) (int, error) { return len(piece), nil }
func (nobody) Close() error                    { return nil }
