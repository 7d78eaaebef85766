# syntax=docker/dockerfile:1
FROM docker.io/library/node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Where a company has a registry or a certificate authority of its own, hand them in as secrets:
#   docker build --secret id=npmrc,src=$HOME/.npmrc --secret id=ca,src=/etc/ssl/certs/ca-certificates.crt .
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca,target=/run/ca.crt \
    if [ -s /run/ca.crt ]; then export NODE_EXTRA_CA_CERTS=/run/ca.crt npm_config_cafile=/run/ca.crt; fi \
    && npm ci --no-audit --no-fund --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY schema ./schema
COPY mocks ./mocks
COPY onboarding ./onboarding
COPY profiles ./profiles
COPY simulator ./simulator
COPY src ./src
# docker build --build-arg COMMIT=$(git rev-parse HEAD) .
ARG COMMIT=unknown
RUN npm run --silent build && echo "$COMMIT" >dist/commit

FROM docker.io/library/node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The optional dependency is a Node of 186 MB for machines without one; this image has its own.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca,target=/run/ca.crt \
    if [ -s /run/ca.crt ]; then export NODE_EXTRA_CA_CERTS=/run/ca.crt npm_config_cafile=/run/ca.crt; fi \
    && npm ci --omit=dev --omit=optional --no-audit --no-fund --ignore-scripts

FROM docker.io/library/node:24-slim
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="SIM swap subgraph" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.description="SIM swap answers for a supergraph, or a BFF of their own"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY profiles ./profiles
COPY --from=build /app/dist ./dist
USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is the first process: it starts no other, and ends on SIGTERM by draining.
ENTRYPOINT ["node", "--disallow-code-generation-from-strings", "--disable-sigusr1", "dist/src/main.js"]
