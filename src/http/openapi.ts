import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Environment } from '../values.ts'
import { describeGuides, serveGuides } from './guides.ts'
import { commonHeaders, failureResponses } from './operation.ts'
import { refTo } from './schemas.ts'

const tags = [
  { name: 'Leads', description: 'Refer borrowers and follow their progress.' },
  {
    name: 'Endpoint',
    description: 'Set, certify, test and pause the endpoint that receives your webhooks.',
  },
  {
    name: 'Deliveries',
    description: 'See your webhooks and their attempts, resend one, or poll for events instead.',
  },
  {
    name: 'Sandbox',
    description: 'In a sandbox only: try the service without borrowers, and without an endpoint of your own.',
  },
  { name: 'Service', description: 'The status of the service.' },
]

/** The whole document; `paths` are those of the routes. */
const documentOf = (environment: Environment, paths: object, webhooks: object) => ({
  openapi: '3.1.0',
  info: {
    title: 'Partner Referral Service',
    version: '1.0.0',
    description: describeGuides(),
  },
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
    headers: commonHeaders,
    responses: failureResponses,
    schemas: namedSchemas(),
  },
  paths,
  servers: [{ url: '/v1', description: 'The environment that serves this document: sandbox or production.' }],
  tags: tags.filter(({ name }) => environment === 'sandbox' || name !== 'Sandbox'),
  security: [{ serviceKey: [] }],
  webhooks,
})

/**
 * GET /v1/openapi.json: the routes and their schemas in OpenAPI 3.1. GET /docs/: the reference for people.
 *
 * @param webhooks the requests to a partner's endpoint, by their names.
 */
export async function describeApi(
  app: FastifyInstance,
  environment: Environment,
  webhooks: object,
): Promise<void> {
  const paths: Record<string, object> = {}
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (schema?.openapi && method !== 'HEAD')
      paths[url.replace(/^\/v1/, '')] = { [String(method).toLowerCase()]: schema.openapi }
  })
  let text: string | undefined
  app.get('/v1/openapi.json', {
    onRequest: (request) => app.limitAddress(request),
    handler: async (_request, reply) => {
      text ??= JSON.stringify(documentOf(environment, paths, webhooks))
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })
  serveGuides(app)
  const nonce = randomBytes(16).toString('base64')
  const policy = policyOf(nonce)
  await app.register(scalar, {
    routePrefix: '/docs',
    configuration: { ...configuration, nonce, hideTestRequestButton: environment === 'production' },
    hooks: {
      onRequest(request, reply, done) {
        reply.headers({ 'content-security-policy': policy, 'cache-control': 'max-age=3600' })
        app.limitAddress(request).then(() => done(), done)
      },
    },
  })
}

/** All schemas that have an id, by their ids. Responses have no defaults, so the input form describes both. */
function namedSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: 'input',
    unrepresentable: 'any',
    uri: refTo,
    override: ({ jsonSchema }) => {
      // descriptions name defaults, and generated clients would treat such fields as required
      delete jsonSchema.default
      // in TypeScript, a type for further fields would have to fit the named ones, too
      if (typeof jsonSchema.additionalProperties === 'object' && jsonSchema.properties)
        jsonSchema.additionalProperties = true
      // the bounds of every integer say nothing
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  const named = Object.entries(schemas).map(
    ([name, { $schema: _dialect, $id: _uri, id: _id, ...schema }]) => [name, schema] as const,
  )
  return Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

const icon = readFileSync(new URL('../console/browser/icon.svg', import.meta.url), 'utf8')

/** Nothing is loaded from Scalar’s servers, and nothing is sent there. */
const configuration = {
  url: '/v1/openapi.json',
  pageTitle: 'Partner Referral Service: API reference',
  favicon: `data:image/svg+xml,${encodeURIComponent(icon)}`,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  // the header that the examples show
  authentication: {
    preferredSecurityScheme: 'serviceKey',
    securitySchemes: { serviceKey: { value: 'Service-Key <API_KEY>' } },
  },
} as const

/** Scripts from here only, and requests to here only. Scalar writes styles into the page. */
const policyOf = (nonce: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';')
