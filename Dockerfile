# Stages that build, with everything a build needs, and the images, which have programs and the libraries
# that they load, alone. They have no base (.ci/image-root):
#   docker build -t gpu-scheduler:0.1.0 .                 the scheduler, and the plugin of kubectl
#   docker build --target bench -t gpu-bench:0.1.0 .      bench, for studies on a cluster (manifests/examples/study)
#
# To both belongs --build-arg COMMIT=$(git rev-parse HEAD): .git is not in the build's context, so --version would name no commit. Further:
#
# --build-arg CPPREST=ON                                  with the second transport (SECURITY.md)
# --build-arg BUILD_IMAGE=debian:12@sha256:…              built on a base that nobody can replace
ARG BUILD_IMAGE=debian:12

FROM ${BUILD_IMAGE} AS build
ARG CPPREST=OFF
WORKDIR /src
COPY .ci .ci
# What is installed there already gets its security updates, too: libraries of it come into the images.
RUN apt-get update && apt-get upgrade -y && .ci/install build
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
 && strip build/release/bin/bench \
 && .ci/image-root /image gpu-bench build/release/bin/bench

FROM scratch AS bench
COPY --from=build-bench /image /
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/bench"]

FROM build AS build-scheduler
RUN cmake --build --preset release --target gpu-scheduler kubectl-gpu \
 && .ci/hardened build/release/bin/gpu-scheduler build/release/bin/kubectl-gpu \
 && strip build/release/bin/gpu-scheduler build/release/bin/kubectl-gpu \
 && .ci/image-root /image gpu-scheduler build/release/bin/gpu-scheduler build/release/bin/kubectl-gpu

FROM scratch
COPY --from=build-scheduler /image /
ENV PATH=/usr/local/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gpu-scheduler"]
