/**
 * The grammar of docs/openapi.json, as far as the emitters of the clients read it. It is small, and the generators of the
 * day don't run beside TypeScript 7: so the emitters are ours, and refuse what they don't know.
 */

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  description?: string
  not?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
}

interface Content {
  content: Record<string, { schema: Schema }>
}

interface Operation {
  operationId: string
  description?: string
  parameters?: { name?: string; $ref?: string }[]
  requestBody?: Content
  responses: Record<string, Content>
}

export interface Document {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** What a client has to know of an operation; `request` and `response` are names of schemas. */
export interface Call {
  name: string
  path: string
  method: string
  request: string | undefined
  response: string
  /** Whether it takes an Idempotency-Key. */
  keyed: boolean
}

export function callsOf(paths: Document['paths']): Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const response = schemaOf(operation.responses[200])
      if (response === undefined) throw new Error(`${operation.operationId} answers no schema`)
      return {
        name: operation.operationId,
        path,
        method: method.toUpperCase(),
        request: schemaOf(operation.requestBody),
        response,
        keyed: operation.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false,
      }
    }),
  )
}

function schemaOf(content: Content | undefined): string | undefined {
  const ref = content?.content['application/json']?.schema.$ref
  return ref === undefined ? undefined : refName(ref)
}

export const refName = (ref: string) => ref.replace('#/components/schemas/', '')

export function isTime(schema: Schema): boolean {
  return schema.$ref === '#/components/schemas/Timestamp' || schema.format === 'date-time'
}
