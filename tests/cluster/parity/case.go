// Package parity compares the verdicts of `bench verdicts` with those of kube-scheduler's own plugins.
//
// A case is a small cluster, a pending pod and kube-scheduler's answer, in the format that bench/verdicts/case.h describes. Package draw makes
// the clusters; Scheduler (scheduler.go) answers in kube-scheduler's stead, with its own code; Bench (bench.go) asks the program under test;
// Compare (compare.go) says where the two differ, and Minimise (minimise.go) makes a case that differs small.
package parity

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// Case is a scheduling question with its answer. Pods are as the API server stores them, each with the name of its node.
type Case struct {
	ID          string                         `json:"id"`
	Focus       string                         `json:"focus,omitempty"`
	Nodes       []corev1.Node                  `json:"nodes"`
	Pods        []corev1.Pod                   `json:"pods,omitempty"`
	Namespaces  []corev1.Namespace             `json:"namespaces,omitempty"`
	Volumes     []corev1.PersistentVolume      `json:"persistentVolumes,omitempty"`
	Claims      []corev1.PersistentVolumeClaim `json:"persistentVolumeClaims,omitempty"`
	Classes     []storagev1.StorageClass       `json:"storageClasses,omitempty"`
	CSINodes    []storagev1.CSINode            `json:"csiNodes,omitempty"`
	CSIDrivers  []storagev1.CSIDriver          `json:"csiDrivers,omitempty"`
	Capacities  []storagev1.CSIStorageCapacity `json:"csiStorageCapacities,omitempty"`
	Attachments []storagev1.VolumeAttachment   `json:"volumeAttachments,omitempty"`
	Services    []corev1.Service               `json:"services,omitempty"`

	ReplicationControllers []corev1.ReplicationController `json:"replicationControllers,omitempty"`
	ReplicaSets            []appsv1.ReplicaSet            `json:"replicaSets,omitempty"`
	StatefulSets           []appsv1.StatefulSet           `json:"statefulSets,omitempty"`

	Budgets []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets,omitempty"`

	PluginConfig []configv1.PluginConfig `json:"pluginConfig,omitempty"` // arguments in place of kube-scheduler's defaults

	Pod corev1.Pod `json:"pod"`
	Answer
}

// Answer is what kube-scheduler says of a pending pod.
type Answer struct {
	Verdicts  map[string]Verdict `json:"verdicts,omitempty"`  // by node
	PreFilter *Verdict           `json:"preFilter,omitempty"` // a rejection before any node was asked; each node carries it
	Message   string             `json:"message,omitempty"`   // the text of the FitError; empty: a node fits, or a PreFilter narrowed the nodes
	Scores    map[string]Scores  `json:"scores,omitempty"`    // by node that fits; nil: not asked for

	Preemption *Preemption `json:"preemption,omitempty"` // nil: not asked for, or a node fits
}

// Verdict is what the filters say of a node. A rejection without a plugin is of a node that a PreFilter left out.
type Verdict struct {
	Code    string   `json:"code"`              // Success, Unschedulable or UnschedulableAndUnresolvable
	Plugin  string   `json:"plugin,omitempty"`  // that rejects, the first in kube-scheduler's order
	Reasons []string `json:"reasons,omitempty"` // sorted
}

// Fits says whether no filter rejects the node.
func (v Verdict) Fits() bool { return v.Code == "Success" }

func (v Verdict) String() string {
	text := v.Code
	if v.Plugin != "" {
		text += " by " + v.Plugin
	}
	if len(v.Reasons) > 0 {
		text += ": " + strings.Join(v.Reasons, "; ")
	}
	return text
}

// Decode reads one line of a file of cases. A field that neither a case nor the API has is an error.
func Decode(line []byte) (*Case, error) {
	var c Case
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, err
	}
	return &c, nil
}

// Encode writes the line without its end.
func (c *Case) Encode() ([]byte, error) {
	line, err := json.Marshal(c)
	line = bytes.ReplaceAll(line, append([]byte(","), noNodeInfo...), nil)
	return bytes.ReplaceAll(line, noNodeInfo, nil), err
}

// noNodeInfo is what the API's types write of a node that says nothing of its machine.
var noNodeInfo = func() []byte {
	status, err := json.Marshal(corev1.NodeStatus{})
	if err != nil {
		panic(err) // no type of the API refuses to be written
	}
	return status[1 : len(status)-1]
}()

// ReadFile calls each with the cases of a file, plain or gzipped, in order.
func ReadFile(path string, each func(*Case) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = bufio.NewReaderSize(file, 1<<20)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewReaderSize(in, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			c, err := Decode(line)
			if err == nil {
				err = each(c)
			}
			if err != nil {
				return fmt.Errorf("%s:%d: %w", path, number, err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// Writer writes a file of cases, gzipped if its name ends in .gz.
type Writer struct {
	file   *os.File
	packed *gzip.Writer
	out    *bufio.Writer
}

// Create makes the file anew.
func Create(path string) (*Writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file}
	var out io.Writer = file
	if strings.HasSuffix(path, ".gz") {
		w.packed = gzip.NewWriter(file)
		out = w.packed
	}
	w.out = bufio.NewWriterSize(out, 1<<20)
	return w, nil
}

// Write appends an encoded case.
func (w *Writer) Write(line []byte) error {
	if _, err := w.out.Write(line); err != nil {
		return err
	}
	return w.out.WriteByte('\n')
}

// Close writes what is left and says whether all of it was written.
func (w *Writer) Close() error {
	err := w.out.Flush()
	if w.packed != nil {
		err = errors.Join(err, w.packed.Close())
	}
	return errors.Join(err, w.file.Close())
}
