# Everything a person or a machine runs. Each target but format and clean installs what it needs and is
# fast when there is nothing to do.

.PHONY: help build test test-full demo replay decide instructions instructions-baseline cost pairs sameness compare live profile views soak faults etcd parity lockstep ecosystem versions upgrade mutants fuzz debian image bench-image format clean

help:
	@echo "make build   release binaries in build/release/bin/"
	@echo "make test    all tests"
	@echo "make demo    the scheduler at work on a real API server"
	@echo "make demo TRANSPORT=cpprest    the same over the second transport"
	@echo "make demo CLUSTER=KUBECONFIG   what it would do on an existing cluster; writes nothing"
	@echo "make replay  what some policies would have done with a sample trace; results in build/replay/"
	@echo "make replay REPLAY='--nodes FILE --pods FILE --policy NAME …'   with one of your own"
	@echo "make decide  how fast the engine decides; DECIDE='--nodes 5000 --shapes 40' for one case"
	@echo "make instructions   what its decisions cost beside what they cost before, whatever the machine does"
	@echo "make instructions-baseline   what they cost now is what later runs are held against"
	@echo "make cost BASE=COMMIT    the same beside that commit's, built as this tree is; make pairs BASE=COMMIT for seconds"
	@echo "make sameness BASE=COMMIT   does this build decide as that one? SAMENESS='--all --traces FOLDER' for all of it"
	@echo "make test-full   all tests at full size: 2,000 pods and 25 kills on a real API server, whole traces"
	@echo "make compare     measure beside kube-scheduler; COMPARE='--nodes 1000 --pods 3000 --repeat 3'"
	@echo "make live        all that is measured beside kube-scheduler"
	@echo "make profile     what a bound pod costs, taken apart: whose processor time, which requests, which waits"
	@echo "make views       what it costs to look at 5,000 nodes and 60,000 pods with kubectl gpu and the page; VIEWS='--nodes 1000'"
	@echo "make faults      a thousand faults between it and the API server, and storms; FAULTS='--faults 5000 --seed 7'"
	@echo "make etcd        twenty loads on an API server whose etcds are killed, stopped and cut off; ETCD='--runs 5'"
	@echo "make soak        half an hour of churn: does it grow? SOAK='--time 5m'; the plot is build/logs/soak.svg"
	@echo "make parity      does it say of each node what kube-scheduler says? N=100000 SEED=7 PARITY='--foci spread,interpod'"
	@echo "make lockstep    does it place, live, where kube-scheduler does? N=10000 SEED=7 LOCKSTEP='--nodes 30'"
	@echo "make ecosystem   tests with other projects' programs: the chart with Helm, alerts and dashboards with Prometheus, the page in chromium, Kueue, JobSet, LeaderWorkerSet, Prefect, KubeRay, Argo Workflows, Kubeflow and Karpenter, and the commands of the docs"
	@echo "make versions    the tests on a real API server with Kubernetes 1.34, 1.35 and 1.37; VERSIONS='1.35 -- -test.run Quota'"
	@echo "make upgrade BASE=COMMIT   replicas of that commit and of this one beside each other, and the files of one read by the other"
	@echo "make mutants     small changes to the product that no test notices; MUTANTS='--count 500 --seed 7'"
	@echo "make fuzz        searches for inputs that break what reads input, a minute each; FUZZ='--seconds 3600 yaml object'"
	@echo "make debian  build, and run the unit tests, on Debian 12 and 13, and for 64-bit Arm, each in a chroot; as root. DEBIAN=trixie"
	@echo "make image   the image as an OCI archive with its bill of materials, without Docker; runs what is in it; as root. IMAGE=--arm64 or --dockerfile"
	@echo "make bench-image   the same of bench, for studies on a cluster"
	@echo "make format  lay out the code"
	@echo "make clean   remove build/"
	@echo "make help    this"

build:
	@.ci/install build
	@.ci/build-release

test:
	@.ci/install
	@.ci/test

test-full:
	@.ci/install
	@.ci/test --full

compare:
	@.ci/install
	@tests/cluster/compare.sh $(COMPARE)

live:
	@.ci/install
	@tests/cluster/compare.sh series $(LIVE)

profile:
	@.ci/install
	@tests/cluster/profile.sh $(PROFILE)

views:
	@.ci/install
	@tests/cluster/views.sh $(VIEWS)

faults:
	@.ci/install
	@tests/cluster/faults.sh $(FAULTS)

etcd:
	@.ci/install
	@tests/cluster/etcd.sh $(ETCD)

soak:
	@.ci/install
	@tests/cluster/soak.sh $(SOAK)

parity:
	@.ci/install
	@tests/cluster/parity.sh --cases $(or $(N),100000) $(if $(SEED),--seed $(SEED)) $(PARITY)

lockstep:
	@.ci/install
	@tests/cluster/lockstep.sh --pods $(or $(N),10000) $(if $(SEED),--seed $(SEED)) $(LOCKSTEP)

ecosystem:
	@.ci/install
	@.ci/install ecosystem
	@tests/cluster/ecosystem.sh $(ECOSYSTEM)

versions:
	@.ci/install
	@tests/cluster/versions.sh $(VERSIONS)

upgrade:
	@.ci/install
	@tests/cluster/upgrade.sh '$(BASE)' $(UPGRADE)

mutants:
	@.ci/install
	@tests/mutants/mutants.py $(MUTANTS)

fuzz:
	@.ci/install
	@.ci/install fuzz
	@tests/fuzz/fuzz.py $(FUZZ)

demo:
	@.ci/install
	@.ci/demo $(if $(CLUSTER),'$(CLUSTER)')

replay:
	@.ci/install build
	@.ci/replay $(REPLAY)

decide:
	@.ci/install build
	@.ci/decide $(DECIDE)

instructions:
	@.ci/install
	@.ci/decide --count

instructions-baseline:
	@.ci/install
	@.ci/decide --baseline

cost:
	@.ci/install
	@.ci/cost instructions '$(BASE)' $(COST)

pairs:
	@.ci/install build
	@.ci/cost pairs '$(BASE)' $(PAIRS)

sameness:
	@.ci/install build
	@NEW='$(NEW)' .ci/sameness '$(BASE)' $(SAMENESS)

debian:
	@.ci/install chroot
	@.ci/on-debian $(DEBIAN)

image:
	@.ci/image $(IMAGE)

bench-image:
	@.ci/image --bench

format:
	@find k8s-client scheduler plugins bench tests -name '*.cc' -o -name '*.h' | \
	  xargs .ci/clang-format -i

clean:
	rm -rf build
