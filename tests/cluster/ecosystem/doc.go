// Package ecosystem has the tests that take other projects' programs, which tests/cluster/build.sh --ecosystem puts beside the control plane: Helm,
// Prometheus, Kueue, JobSet, LeaderWorkerSet, Prefect, KubeRay, Argo Workflows and Kubeflow's two. They ask whether what a user installs with Helm is what kustomize installs, and what is left when it is uninstalled; whether each alert
// fires when it should, and each panel of the dashboards has data; whether pods that other projects' controllers make are placed as those controllers
// mean it; and they type the commands of the pages.
package ecosystem
