# One image for the API, the worker, the jobs and the staff command: docker-compose.yml chooses the program.
# To pin the base, add the digest that you trust, here or by --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…;
# docker buildx imagetools inspect node:24.21.0-bookworm-slim prints it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# Bundles the workflows.
FROM ${NODE_IMAGE} AS build
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
RUN node src/temporal/workflow-bundle.ts

FROM ${NODE_IMAGE}
ENV NODE_ENV=production NODE_OPTIONS="--require /service/src/preload.cjs"
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
# Optional packages are Node and PostgreSQL for npm start, and the bundler of the workflows.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
# The API serves these guides for lenders.
COPY docs/integrate.md docs/webhooks.md docs/sandbox.md ./docs/
COPY --from=build /service/node_modules/.cache ./node_modules/.cache
# A new volume takes its owner from this folder.
RUN mkdir /var/lib/erasures && chown 1000:1000 /var/lib/erasures
USER 1000
# The API; probes and metrics; the metrics of Temporal's SDK. Who reaches them is up to how the container is run.
EXPOSE 3000 9464 9465
ENV HOST=0.0.0.0 METRICS_HOST=0.0.0.0 METRICS_PORT=9464 TEMPORAL_METRICS_PORT=9465
HEALTHCHECK --interval=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/readyz').then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["node", "src/server.ts"]
