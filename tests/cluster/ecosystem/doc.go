// Package ecosystem has the tests that take other projects' programs, which tests/cluster/build.sh --ecosystem builds beside the control plane:
// Helm. They ask whether what a user installs with them is what kustomize installs, and what is left when it is uninstalled; and they type the
// commands of the pages.
package ecosystem
