import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import type { Environment } from '../../values/environment.ts'
import { guides, llmsText } from './guides.ts'

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
export const referencePage: FastifyPluginAsync<{ environment: Environment }> = async (
  app,
  { environment },
) => {
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
