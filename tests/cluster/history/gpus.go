package history

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	gpuResource    = "nvidia.com/gpu"
	sharedResource = "nvidia.com/gpu.shared"
	migPrefix      = "nvidia.com/mig-"
	productLabel   = "nvidia.com/gpu.product"
	replicasLabel  = "nvidia.com/gpu.replicas"
	memoryLabel    = "nvidia.com/gpu.memory"

	chargedAsAnnotation = "gpu-scheduler.io/charged-as"
)

func asksForGPUs(requests amounts) bool {
	for name, amount := range requests {
		text := string(name)
		if amount > 0 && (text == gpuResource || text == sharedResource || strings.HasPrefix(text, migPrefix)) {
			return true
		}
	}
	return false
}

// productOf is the GPU product that a node's label names, without what sharing and MIG append to it; "" if there is none.
func productOf(node *corev1.Node) string {
	if node == nil {
		return ""
	}
	product, _, _ := strings.Cut(node.Labels[productLabel], "-MIG-")
	return strings.TrimSuffix(product, "-SHARED")
}

// productOn is the GPU product that a pod on a node is charged as: what the node says, and while it says nothing, or is gone, what it said when our
// scheduler bound the pod, which noted it.
func (p *podState) productOn(n *nodeState) string {
	if product := productOf(n.node); product != "" {
		return product
	}
	return p.chargedAs
}

// gpuShare is how many GPUs a pod takes on a node: a piece of nvidia.com/gpu is a GPU, or the replicas-th part of one where GPUs are
// shared, or an instance where the product's name says so; a MIG instance is the part of the GPU's memory slices that it has.
func gpuShare(requests amounts, node *corev1.Node) *big.Rat {
	sum := new(big.Rat)
	add := func(piece *big.Rat, count int64) { sum.Add(sum, new(big.Rat).Mul(piece, big.NewRat(count, 1))) }
	for name, count := range requests {
		resource := string(name)
		switch {
		case resource == gpuResource:
			add(wholePiece(node), count)
		case resource == sharedResource:
			add(big.NewRat(1, replicas(node)), count)
		case strings.HasPrefix(resource, migPrefix):
			add(instance(strings.TrimPrefix(resource, migPrefix), node), count)
		}
	}
	return sum
}

func wholePiece(node *corev1.Node) *big.Rat {
	if node == nil {
		return big.NewRat(1, 1)
	}
	if _, profile, found := strings.Cut(node.Labels[productLabel], "-MIG-"); found {
		return instance(strings.TrimSuffix(profile, "-SHARED"), node)
	}
	if strings.HasSuffix(node.Labels[productLabel], "-SHARED") {
		return big.NewRat(1, replicas(node))
	}
	return big.NewRat(1, 1)
}

func replicas(node *corev1.Node) int64 {
	if node == nil {
		return 1
	}
	n, err := strconv.ParseInt(node.Labels[replicasLabel], 10, 64)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

var profileMemory = regexp.MustCompile(`^\d+g\.(\d+)gb`)

// instance is the part of a GPU that a MIG instance of a profile is, on a model with eight memory slices (A100, H100 and the like, the only
// ones with instances in the fixtures): its gigabytes over those of a slice. A whole GPU if that cannot be told.
func instance(profile string, node *corev1.Node) *big.Rat {
	const slices = 8
	match := profileMemory.FindStringSubmatch(profile)
	if match == nil || node == nil {
		return big.NewRat(1, 1)
	}
	memory, err := strconv.ParseInt(node.Labels[memoryLabel], 10, 64)
	perSlice := memory / 1000 / slices // 81,559 MiB are sold as 80 GB, and 20,475 as 20
	if err != nil || perSlice < 1 {
		return big.NewRat(1, 1)
	}
	gigabytes, _ := strconv.ParseInt(match[1], 10, 64)
	return big.NewRat(min((gigabytes+perSlice-1)/perSlice, slices), slices)
}
