//go:build tools

// Package kwok pins KWOK, which plays the kubelet of every node of a test cluster: it takes bound pods to Running and keeps
// nodes Ready. It is a module of its own because its Kubernetes libraries are of another version than the
// control plane's; build.sh builds the binary from here.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
