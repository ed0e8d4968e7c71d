import swagger from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from '@fastify/type-provider-zod'
import plugin from 'fastify-plugin'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Environment } from '../../values/environment.ts'
import { errorCodesOf } from '../errors.ts'
import { complete, type Document } from './complete.ts'
import { guide } from './guide.ts'
import { describeSchema } from './json-schema.ts'
import { referencePage } from './reference-page.ts'
import { WEBHOOK_EVENT } from './webhook-schemas.ts'
import { webhooks } from './webhooks.ts'

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

/** The sandbox's routes exist in a sandbox only. */
const tagsOf = (environment: Environment) =>
  tags.filter(({ name }) => environment === 'sandbox' || name !== 'Sandbox')

interface Options {
  environment: Environment
  /** How a partner sets its endpoint up: sections of the guide. */
  setUp?: readonly string[]
}

/** What the document says beside the routes. */
const baseOf = ({ environment, setUp = [] }: Options) => ({
  openapi: '3.1.0',
  info: {
    title: 'Partner Referral Service',
    version: '1.0.0',
    description: guide(environment, errorCodesOf(environment), setUp),
  },
  servers: [{ url: '/v1', description: 'The environment that serves this document: sandbox or production.' }],
  tags: tagsOf(environment),
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

const zodToJsonConfig = { override: describeSchema }
const addSchemas = createJsonSchemaTransformObject({ zodToJsonConfig })

/** GET /v1/openapi.json: the routes and their schemas in OpenAPI 3.1. */
export const openapi = plugin<Options>(async (app, options) => {
  const { environment } = options
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
    openapi: baseOf(options) as object as OpenAPIV3_1.Document,
    transform: createJsonSchemaTransform({ zodToJsonConfig }),
    transformObject: (found) =>
      complete(addSchemas(found) as object as Document, {
        codes: errorCodesOf(environment),
        always: [WEBHOOK_EVENT],
      }) as object as OpenAPIV3_1.Document,
  })
  await app.register(referencePage, { environment })
})
