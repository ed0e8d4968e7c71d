/** The grammar of docs/openapi.json, as far as the emitters of the clients read it. */

import type { JSONSchema } from 'json-schema-to-typescript'

interface Content {
  content: { 'application/json': { schema: { $ref: string } } }
}

interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: { name?: string }[]
  requestBody?: Content
  responses: { 200: Content }
}

export interface Document {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, object>
  components: { schemas: Record<string, JSONSchema> }
}

/** What a client has to know of each operation; `request` and `response` are names of schemas. */
export function callsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description, ...operation }]) => ({
      name: operationId,
      about: `${summary}. ${description ?? ''}`.trimEnd(),
      path,
      method: method.toUpperCase(),
      request: operation.requestBody && schemaOf(operation.requestBody),
      response: schemaOf(operation.responses[200]),
      /** Whether it takes an Idempotency-Key. */
      keyed: operation.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false,
    })),
  )
}

const schemaOf = ({ content }: Content) => refName(content['application/json'].schema.$ref)

export const refName = (ref: string) => ref.replace('#/components/schemas/', '')
