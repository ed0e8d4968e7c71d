import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import plugin from 'fastify-plugin'
import type { Environment } from '../../values/environment.ts'
import { failureResponses, responseHeaders } from './failures.ts'
import { guides } from './guides.ts'
import { namedSchemas } from './json-schema.ts'
import { referencePage } from './reference-page.ts'
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
  const named = { headers: responseHeaders, responses: failureResponses, schemas: namedSchemas() }
  return { ...document, components: { ...document.components, ...named } }
}
