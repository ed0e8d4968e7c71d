import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import plugin from 'fastify-plugin'
import type { Environment } from '../values.ts'
import { namedSchemas } from './json-schema.ts'
import { webhooks } from './openapi-webhooks.ts'
import { failureResponses, commonHeaders } from './operation.ts'

/** Pages of docs/ for lenders: sections of the reference, and served as Markdown beside it. */
const names = ['integrate', 'webhooks', 'sandbox']
const folder = new URL('../../docs/', import.meta.url)

/** Links to files that are not served. */
const ELSEWHERE = /\[([^[\]]+)\]\((?!https?:|#|(?:integrate|webhooks|sandbox)\.md)[^[)]+\)/g
const BETWEEN_SECTIONS = /\]\((?:\w+\.md)?#/g

const guides = names.map((name) => {
  const text = readFileSync(new URL(`${name}.md`, folder), 'utf8').replaceAll(ELSEWHERE, '$1')
  const [, title = '', about = ''] = /^# (.*)\n\n([^.]*\.)/.exec(text) ?? []
  return {
    path: `/docs/${name}.md`,
    title,
    about: about.replaceAll('\n', ' '),
    text,
    /** The viewer's addresses of sections begin with that of the description. */
    inReference: text.replaceAll(BETWEEN_SECTIONS, '](#description/'),
  }
})

/** What programs that read documentation ask for: https://llmstxt.org. */
const llmsText = `# Partner Referral Service

> Refer borrowers who were declined for credit reasons, and follow them until they are mortgage ready.

## Guides

${guides.map(({ path, title, about }) => `- [${title}](${path}): ${about}`).join('\n')}

## Reference

- [OpenAPI 3.1](/v1/openapi.json): every operation, webhook and schema, with examples.
`

const TITLE = 'Partner Referral Service: API reference'

/** Scripts from here only, and requests to here only. The viewer writes styles into the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';')

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${TITLE}</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/viewer.js"></script>
    <script src="/docs/reference.js"></script>
  </body>
</html>
`

/** The guide has the whole width, for its tables. Words in them are not broken, and the placeholder for the key is shown. */
const customCss = `
.introduction-section .section-columns { display: block }
.introduction-section .section-column + .section-column { display: none }
.scalar-app .markdown table { display: block; overflow-x: auto }
.scalar-app .markdown table * { word-break: normal; overflow-wrap: normal }
.scalar-app .markdown table code { white-space: nowrap }
.scalar-app .credential .credential-value { color: inherit; font-size: inherit }
.scalar-app .credential:after { content: none }
@media (max-width: 720px) { .scalar-app .markdown td:not(:first-of-type) { min-width: 8rem } }
`

/** Nothing is loaded from Scalar, nor sent there: fonts, statistics, and what needs their servers. */
const configuration = {
  url: '/v1/openapi.json',
  slug: 'v1',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  // what the examples show
  authentication: {
    preferredSecurityScheme: 'serviceKey',
    securitySchemes: { serviceKey: { value: 'Service-Key <API_KEY>' } },
  },
  customCss,
}

/** In a sandbox, requests can be tried on the page; its examples would create leads in production. */
const startIn = (environment: Environment) =>
  `Scalar.createApiReference('#reference', ${JSON.stringify({
    ...configuration,
    hideTestRequestButton: environment === 'production',
  })})\n`

/** GET /docs: the reference for people. */
const referencePage: FastifyPluginAsync<{ environment: Environment }> = async (app, { environment }) => {
  const start = startIn(environment)
  let viewer: ReturnType<typeof loadViewer> | undefined
  app.addHook('onRequest', async (request, reply) => {
    await app.limitAddress(request)
    // browsers ask with the ETag whether the viewer has changed
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
  })
  for (const url of ['/docs', '/docs/'])
    app.get(url, (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
  app.get('/docs/reference.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(start))
  for (const { path, text } of guides)
    app.get(path, (_request, reply) => reply.type('text/markdown; charset=utf-8').send(text))
  app.get('/llms.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(llmsText))
  app.get('/docs/viewer.js', async (request, reply) => {
    viewer ??= loadViewer()
    const { zipped, etag } = await viewer
    reply.header('etag', etag)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.header('content-encoding', 'gzip').type('text/javascript; charset=utf-8').send(zipped)
  })
}

/**
 * The viewer is 5 MB of JavaScript within Scalar's plugin. Few processes ever show it, so it is loaded at the first
 * request. The plugin's own page has an inline script: only its script is taken.
 */
async function loadViewer() {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const host = Fastify()
  await host.register(scalar, { configuration: { url: configuration.url } })
  const { rawPayload } = await host.inject('/reference/js/scalar.js')
  await host.close()
  const zipped = await promisify(gzip)(rawPayload)
  return { zipped, etag: `"${createHash('sha256').update(zipped).digest('base64url')}"` }
}

const tags = [
  { name: 'Leads', description: 'Refer borrowers and follow their progress.' },
  {
    name: 'Endpoint',
    description: 'Set, certify, test and pause the endpoint that receives your webhooks.',
  },
  {
    name: 'Deliveries',
    description: 'See which webhooks were sent and how it went, send one again, or poll for events instead.',
  },
  {
    name: 'Sandbox',
    description: 'In a sandbox only: try the service without borrowers, and without an endpoint of your own.',
  },
  { name: 'Service', description: 'The status of the service.' },
]

/** What the document says beside the routes. */
const baseOf = (environment: Environment) => ({
  openapi: '3.1.0',
  info: {
    title: 'Partner Referral Service',
    version: '1.0.0',
    description: guides.map(({ inReference }) => inReference).join('\n'),
  },
  servers: [{ url: '/v1', description: 'The environment that serves this document: sandbox or production.' }],
  tags: tags.filter(({ name }) => environment === 'sandbox' || name !== 'Sandbox'),
  components: {
    securitySchemes: {
      serviceKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description:
          '`Service-Key <API_KEY>`, with the prefix. To try a request on this page, replace the whole value.',
      },
    },
  },
  security: [{ serviceKey: [] }],
  webhooks,
})

/** GET /v1/openapi.json: the routes and their schemas in OpenAPI 3.1. */
export const openapi = plugin<{ environment: Environment }>(async (app, { environment }) => {
  let text: string | undefined
  app.get('/v1/openapi.json', {
    onRequest: (request) => app.limitAddress(request),
    handler: async (_request, reply) => {
      text ??= JSON.stringify(app.swagger())
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })
  await app.register(swagger, {
    openapi: baseOf(environment) as FastifyDynamicSwaggerOptions['openapi'] & object,
    transform: ({ schema, url }) => ({ schema: schema?.openapi ?? { hide: true }, url }),
    transformObject: (found) => complete(found as object as Found),
  })
  await app.register(referencePage, { environment })
})

interface Found {
  openapiObject: {
    paths: Record<string, Record<string, { 'x-parts'?: object }>>
    components: object
  }
}

/** Puts the parts of each operation in their place, and what they refer to. */
function complete({ openapiObject: document }: Found) {
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    Object.assign(operation, operation['x-parts'])
    delete operation['x-parts']
  }
  const named = { headers: commonHeaders, responses: failureResponses, schemas: namedSchemas() }
  return { ...document, components: { ...document.components, ...named } }
}
