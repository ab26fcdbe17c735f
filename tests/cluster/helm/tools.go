//go:build tools

// Package helm pins Helm, with which the tests render and lint manifests/chart. It is a module of its own because its Kubernetes libraries
// are of another version than the control plane's; build.sh builds the binary from here.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
