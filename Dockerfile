# Two stages: the first builds with everything a build needs, the second runs with the shared
# libraries alone.    docker build -t gpu-scheduler:0.1.0 .
FROM debian:12 AS build
WORKDIR /src
COPY .ci .ci
RUN .ci/install build
COPY CMakeLists.txt CMakePresets.json Makefile ./
COPY k8s-client k8s-client
COPY scheduler scheduler
COPY plugins plugins
COPY bench bench
COPY cmake cmake
RUN cmake --preset release \
 && cmake --build --preset release --target gpu-scheduler \
 && strip build/release/bin/gpu-scheduler

FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libssl3 libcpprest2.10 libsimdjson14 libyaml-cpp0.7 libfmt9 libspdlog1.10 \
      libprometheus-cpp-core1.0 libprometheus-cpp-pull1.0 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/release/bin/gpu-scheduler /usr/local/bin/gpu-scheduler
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/gpu-scheduler"]
