# The origin, and the sandbox provider that stands in for a payment provider in development.
#
#   docker build --target origin -t unavez-origin .
#   docker build --target provider -t unavez-provider .

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends cmake make \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY protocol protocol
COPY bench bench
COPY edge edge
COPY origin origin
COPY tests tests
COPY xtask xtask
COPY migrations migrations
COPY policy.toml policy.toml
RUN cargo build --release --locked -p origin -p tests --bin origin --bin sandbox-provider

# No shell and no package manager; certificates and a user that is not root.
FROM gcr.io/distroless/cc-debian12:nonroot AS provider
COPY --from=build /src/target/release/sandbox-provider /sandbox-provider
ENV BIND=0.0.0.0:8090
EXPOSE 8090
ENTRYPOINT ["/sandbox-provider"]

FROM gcr.io/distroless/cc-debian12:nonroot AS origin
COPY --from=build /src/target/release/origin /origin
COPY policy.toml /etc/unavez/policy.toml
ENV BIND=0.0.0.0:8080 POLICY_FILE=/etc/unavez/policy.toml
EXPOSE 8080
# It writes nothing to its disk, and ends in order when it is asked to (SIGTERM).
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s CMD ["/origin", "health"]
ENTRYPOINT ["/origin"]
