import swagger from '@fastify/swagger'
import { createJsonSchemaTransform } from '@fastify/type-provider-zod'
import plugin from 'fastify-plugin'
import type { OpenAPIV3_1 } from 'openapi-types'
import { allowAdditions } from './allow-additions.ts'
import { failureResponses, failureSchema, failuresOf } from './failures.ts'
import { extensionOperations } from './extensions.ts'
import { type Operation, operations } from './operations.ts'
import type { Examples } from './examples.ts'
import { webhooks } from './webhooks.ts'

const description = `Refer borrowers who were declined for credit reasons, and follow their way to mortgage-ready.

Every request carries \`Authorization: Service-Key <API_KEY>\`. Every answer is JSON with a boolean \`success\`; \
every failure is \`{"success": false, "error": {"code", "message"}}\`. All times are UTC. Each answer has an \
\`X-Request-Id\` to name when you ask for help.`

/** What the document says beside the routes. */
const base = {
  openapi: '3.1.0',
  info: { title: 'Partner Referral Service', version: '1.0.0', description },
  servers: [{ url: '/v1', description: 'The environment that serves this document: sandbox or production.' }],
  tags: [
    { name: 'Leads', description: 'Refer borrowers and read what became of them.' },
    {
      name: 'Extensions',
      description: 'Beyond the interface specification: your webhooks, and a feed to poll.',
    },
    { name: 'Service', description: 'The service itself.' },
  ],
  components: {
    securitySchemes: {
      serviceKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: '`Service-Key <API_KEY>`: the prefix is fixed and required.',
      },
    },
  },
  security: [{ serviceKey: [] }],
}

/** The API's description in OpenAPI 3.1, made from the routes and their schemas: GET /v1/openapi.json. */
export const openapi = plugin(async (app) => {
  await app.register(swagger, {
    openapi: base as OpenAPIV3_1.Document,
    transform: createJsonSchemaTransform({ zodToJsonConfig: { override: allowAdditions } }),
    transformObject: (found) =>
      complete('openapiObject' in found ? (found.openapiObject as Document) : {}) as OpenAPIV3_1.Document,
  })
  let text: string | undefined
  app.get('/v1/openapi.json', {
    schema: { hide: true },
    onRequest: (request) => app.limitAddress(request),
    handler: async (_request, reply) => {
      text ??= JSON.stringify(app.swagger())
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })
})

interface Found {
  requestBody?: Body
  responses?: Record<string, Body>
}

interface Document {
  components?: object
  paths?: Record<string, Record<string, Found>>
}

interface Body {
  content?: Record<string, object>
}

function complete(document: Document): object {
  return {
    ...document,
    paths: mapValues(document.paths ?? {}, (methods, path) => {
      const operation = operations[path] ?? extensionOperations[path]
      if (operation === undefined)
        throw new Error(`${path} is described in neither operations.ts nor extensions.ts`)
      return mapValues(methods, (found) => describe(operation, found))
    }),
    webhooks: webhooks(),
    components: {
      ...document.components,
      schemas: { Failure: failureSchema },
      responses: failureResponses(),
    },
  }
}

function describe(operation: Operation, found: Found): object {
  const { operationId, summary, description: text, key, request, answer, answerDescription } = operation
  const tag = operation.extension ? 'Extensions' : key ? 'Leads' : 'Service'
  return {
    operationId,
    tags: [tag],
    summary,
    description: text,
    ...(!key && { security: [{}, { serviceKey: [] }] }),
    ...(operationId === 'createLead' && { parameters: [idempotencyHeader] }),
    ...(found.requestBody && request && { requestBody: withExamples(found.requestBody, request) }),
    responses: {
      200: { ...withExamples(found.responses?.['200'] ?? {}, answer), description: answerDescription },
      ...failuresOf(operation),
    },
  }
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a repeat harmless: 1 to 255 visible ASCII characters, new for each lead, kept 24 hours.',
  schema: { type: 'string', pattern: String.raw`^[\x21-\x7e]{1,255}$` },
  example: '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
}

function withExamples(body: Body, examples: Examples): Body {
  const named = mapValues(examples, (value) => ({ value }))
  return { ...body, content: mapValues(body.content ?? {}, (media) => ({ ...media, examples: named })) }
}

function mapValues<From, To>(from: Record<string, From>, to: (value: From, key: string) => To) {
  return Object.fromEntries(Object.entries(from).map(([key, value]): [string, To] => [key, to(value, key)]))
}
