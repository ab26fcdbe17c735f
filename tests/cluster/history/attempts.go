package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The store shows no pod that is bound twice, whatever a scheduler does: the API server refuses to bind one that is bound. What a scheduler tried is
// in the server's audit log. The same bind may be sent again, to learn the outcome of the first. A bind to another node
// means that the scheduler decided a pod again after its first bind had landed, so that it did not know where its own pod was.

// attempt is a request to bind a pod, as it was answered.
type attempt struct {
	pod     string // namespace/name
	uid     types.UID
	node    string
	code    int
	message string
}

// elsewhere tells whether the pod was bound to another node already.
func (a attempt) elsewhere() bool {
	// In the words of kube-apiserver (pkg/registry/core/pod/storage), which has no other sign of it.
	_, node, already := strings.Cut(a.message, "is already assigned to node ")
	return a.code == 409 && already && node != strconv.Quote(a.node)
}

// attemptLog is an API server's audit log of binds that is being written.
type attemptLog struct {
	path   string
	offset int64 // up to which it has been read
}

// read returns what has been written since it was read last, in whole lines. A log that is not there yet is empty.
func (l *attemptLog) read() ([]attempt, error) {
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	added, err := io.ReadAll(io.NewSectionReader(file, l.offset, 1<<62))
	if err != nil {
		return nil, err
	}
	whole := added[:bytes.LastIndexByte(added, '\n')+1]
	l.offset += int64(len(whole))
	var attempts []attempt
	for line := range bytes.Lines(whole) {
		a, err := decodeAttempt(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", l.path, err, line)
		}
		attempts = append(attempts, a)
	}
	return attempts, nil
}

// decodeAttempt reads a line of the log: an Event of audit.k8s.io/v1.
func decodeAttempt(line []byte) (attempt, error) {
	var event struct {
		ObjectRef      struct{ Namespace, Name string }
		RequestObject  corev1.Binding
		ResponseStatus struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return attempt{}, err
	}
	name := event.ObjectRef.Name
	if name == "" {
		name = event.RequestObject.Name
	}
	return attempt{
		pod: event.ObjectRef.Namespace + "/" + name, uid: event.RequestObject.UID, node: event.RequestObject.Target.Name,
		code: event.ResponseStatus.Code, message: event.ResponseStatus.Message,
	}, nil
}

// tried takes a request to bind a pod into account. What others do with their own pods is theirs.
func (j *Judge) tried(a attempt) {
	if a.uid == "" { // not a bind of a pod that the client has seen
		j.marks[a.pod] = true
		return
	}
	j.counts.attempts++
	bound, known := j.binds[a.uid]
	if !a.elsewhere() || known && !bound.ours {
		return
	}
	j.violations = append(j.violations, Violation{
		Kind: DoubleBind, Revision: j.counts.last, Time: j.now, Pod: a.pod, Node: a.node,
		Detail: "it had been bound before: " + a.message,
	})
}
