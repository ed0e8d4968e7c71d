import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { createJsonSchemaTransform } from '@fastify/type-provider-zod'
import plugin from 'fastify-plugin'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Environment } from '../../domain/environment.ts'
import { type ErrorCode, errorCodesOf } from '../errors.ts'
import { failureResponses, failureSchema } from './operation.ts'
import { allowAdditions, webhooks } from './webhooks.ts'

const description = `Refer borrowers who were declined for credit reasons, and follow them until they are mortgage ready.

Authenticate every request with the header \`Authorization: Service-Key <API_KEY>\`. Every response is JSON with a \
boolean \`success\`; every error is \`{"success": false, "error": {"code", "message"}}\`. All times are UTC. Every \
response has an \`X-Request-Id\`: quote it when you contact support.`

const tags = [
  { name: 'Leads', description: 'Refer borrowers and follow their progress.' },
  {
    name: 'Endpoint',
    description:
      'Beyond the interface specification: set, certify and test the endpoint that receives your webhooks.',
  },
  {
    name: 'Extensions',
    description: 'Beyond the interface specification: inspect and resend webhooks, or poll for events.',
  },
  {
    name: 'Sandbox',
    description: 'In a sandbox only: try the service without borrowers, and without an endpoint of your own.',
  },
  { name: 'Service', description: 'The status of the service.' },
]

/** The sandbox's routes exist in a sandbox only. */
const tagsOf = (environment: Environment) =>
  tags.filter(({ name }) => environment === 'sandbox' || name !== 'Sandbox')

/** What the document says beside the routes. */
const base = {
  openapi: '3.1.0',
  info: { title: 'Partner Referral Service', version: '1.0.0', description },
  servers: [{ url: '/v1', description: 'The environment that serves this document: sandbox or production.' }],
  components: {
    securitySchemes: {
      serviceKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: '`Service-Key <API_KEY>`. The prefix is required.',
      },
    },
  },
  security: [{ serviceKey: [] }],
  webhooks,
}

/** GET /v1/openapi.json: the routes and their schemas in OpenAPI 3.1. GET /docs: the same for people. */
export const openapi = plugin<{ environment: Environment }>(async (app, { environment }) => {
  let text: string | undefined
  // before swagger, which describes every later route
  app.get('/v1/openapi.json', {
    onRequest: (request) => app.limitAddress(request),
    handler: async (_request, reply) => {
      text ??= JSON.stringify(app.swagger())
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })
  await app.register(swagger, {
    openapi: { ...base, tags: tagsOf(environment) } as object as OpenAPIV3_1.Document,
    transform: createJsonSchemaTransform({ zodToJsonConfig: { override: allowAdditions } }),
    transformObject: (found) =>
      complete(found as { openapiObject: Document }, errorCodesOf(environment)) as OpenAPIV3_1.Document,
  })
  // it loads nothing from other hosts
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP:
      "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
    uiHooks: {
      onRequest: (request, _reply, done) => void app.limitAddress(request).then(() => done(), done),
    },
    uiConfig: { validatorUrl: null, defaultModelsExpandDepth: -1, tryItOutEnabled: false },
    theme: {
      title: 'Partner Referral Service: API reference',
      css: [{ filename: 'reference.css', content: '#swagger-ui .topbar { display: none }' }],
    },
  })
})

interface Document {
  components: object
  paths: Record<string, Record<string, Operation>>
}

interface Operation {
  responses: object
  parameters?: object[]
  'x-failures'?: object
  'x-parameters'?: object[]
}

/** Moves what `operation` passed as `x-` keys to OpenAPI's own. */
function complete({ openapiObject }: { openapiObject: Document }, codes: ErrorCode[]): object {
  for (const operation of Object.values(openapiObject.paths).flatMap((methods) => Object.values(methods))) {
    Object.assign(operation.responses, operation['x-failures'])
    if (operation['x-parameters']) operation.parameters = operation['x-parameters']
    delete operation['x-failures']
    delete operation['x-parameters']
  }
  return {
    ...openapiObject,
    components: {
      ...openapiObject.components,
      responses: failureResponses(codes),
      schemas: { Failure: failureSchema(codes) },
    },
  }
}
