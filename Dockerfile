# Stages that build, with everything a build needs, and the images, which have programs and the libraries
# that they load, alone:
#   docker build -t gpu-scheduler:0.1.0 .                 the scheduler, and the plugin of kubectl
#   docker build --target bench -t gpu-bench:0.1.0 .      bench, for studies on a cluster (manifests/examples/study)
#
# To both belongs --build-arg COMMIT=$(git rev-parse HEAD): .git is not in the build's context, so --version would name no commit. Further:
#
# --build-arg CPPREST=ON                                  with the second transport (SECURITY.md)
# --build-arg BUILD_IMAGE=debian:12@sha256:…              on bases that nobody can replace
# --build-arg RUN_IMAGE=debian:12-slim@sha256:…
ARG BUILD_IMAGE=debian:12
ARG RUN_IMAGE=debian:12-slim

FROM ${BUILD_IMAGE} AS build
ARG CPPREST=OFF
WORKDIR /src
COPY .ci .ci
RUN .ci/install build
COPY CMakeLists.txt CMakePresets.json Makefile ./
COPY k8s-client k8s-client
COPY scheduler scheduler
COPY plugins plugins
COPY bench bench
COPY cmake cmake
ARG COMMIT=
RUN cmake --preset release -DGPU_SCHEDULER_CPPREST=${CPPREST} -DGPU_SCHEDULER_COMMIT=${COMMIT}

FROM build AS build-bench
RUN cmake --build --preset release --target bench \
 && .ci/runtime-packages build/release/bin/bench > runtime-packages \
 && strip build/release/bin/bench

FROM ${RUN_IMAGE} AS bench
RUN --mount=from=build-bench,source=/src/runtime-packages,target=/runtime-packages \
    apt-get update \
 && xargs -a /runtime-packages apt-get install -y --no-install-recommends \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build-bench /src/build/release/bin/bench /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/bench"]

FROM build AS build-scheduler
RUN cmake --build --preset release --target gpu-scheduler kubectl-gpu \
 && .ci/hardened build/release/bin/gpu-scheduler build/release/bin/kubectl-gpu \
 && .ci/runtime-packages build/release/bin/gpu-scheduler build/release/bin/kubectl-gpu > runtime-packages \
 && strip build/release/bin/gpu-scheduler build/release/bin/kubectl-gpu

FROM ${RUN_IMAGE}
RUN --mount=from=build-scheduler,source=/src/runtime-packages,target=/runtime-packages \
    apt-get update \
 && xargs -a /runtime-packages apt-get install -y --no-install-recommends \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build-scheduler /src/build/release/bin/gpu-scheduler /src/build/release/bin/kubectl-gpu /usr/local/bin/
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gpu-scheduler"]
