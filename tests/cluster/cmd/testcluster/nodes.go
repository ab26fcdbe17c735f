package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// createNodes creates the nodes of a YAML file, or a set of them by description.
func createNodes(ctx context.Context, cluster *controlplane.ControlPlane, what string) error {
	nodes, err := describedNodes(what)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if _, err := cluster.Client().CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", node.Name, err)
		}
	}
	return nil
}

func describedNodes(what string) ([]*corev1.Node, error) {
	if what == "demo" {
		return fixture.Cluster("node", 2, 2), nil
	}
	var gpu, cpu int
	if _, err := fmt.Sscanf(what, "gpu=%d,cpu=%d", &gpu, &cpu); err == nil {
		var nodes []*corev1.Node
		for i := range gpu {
			nodes = append(nodes, fixture.GPUNode(fmt.Sprintf("gpu-%d", i), fixture.Models[i%len(fixture.Models)], 8))
		}
		for i := range cpu {
			nodes = append(nodes, fixture.CPUNode(fmt.Sprintf("cpu-%d", i)))
		}
		return nodes, nil
	}
	return nodesOfFile(what)
}

// nodesOfFile reads Node objects, separated by `---`, and refuses anything else.
func nodesOfFile(path string) ([]*corev1.Node, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(file), 4096)
	var nodes []*corev1.Node
	for {
		node := &corev1.Node{}
		err := decoder.Decode(node)
		switch {
		case errors.Is(err, io.EOF):
			return nodes, nil
		case err != nil:
			return nil, fmt.Errorf("%s: document %d: %w", path, len(nodes)+1, err)
		case node.Kind == "" && node.Name == "":
			continue // an empty document
		case node.Kind != "Node":
			return nil, fmt.Errorf("%s: document %d is a %q; only nodes are created here", path, len(nodes)+1, node.Kind)
		}
		nodes = append(nodes, node)
	}
}
