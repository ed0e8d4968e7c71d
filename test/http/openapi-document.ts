import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The committed OpenAPI document, which is the one that is served: `openapi.test.ts` holds it. */

export interface Schema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
}

export interface Content {
  content: {
    'application/json': {
      schema: { $ref: string }
      examples: Record<string, { value: object }>
      example: unknown
    }
  }
}

export interface Response extends Content {
  $ref?: string
  headers: Record<string, { $ref: string }>
}

export interface Operation {
  operationId: string
  requestBody?: Content
  responses: Record<string, Response>
  parameters: { name: string; example?: string }[]
}

export interface Document {
  info: { description: string }
  paths: Record<string, { get?: Operation; post?: Operation }>
  webhooks: Record<string, { post: Operation }>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    headers: Record<string, object>
  }
}

export const committed = join(import.meta.dirname, '../../docs/openapi.json')
export const openApiDocument = JSON.parse(readFileSync(committed, 'utf8')) as Document

/** The schema that `$ref` names. */
export function resolve({ $ref = '' }: Schema): Schema {
  const found = openApiDocument.components.schemas[$ref.replace('#/components/schemas/', '')]
  if (found === undefined) throw new Error(`there is no ${$ref}`)
  return found
}

/** Every route that takes a body: its path below /v1, the schema and the fields of the body, and its responses. */
export const postRoutes = Object.entries(openApiDocument.paths).flatMap(([path, { post }]) => {
  const schema = post?.requestBody?.content['application/json'].schema
  if (post === undefined || schema === undefined) return []
  const fields = Object.keys(resolve(schema).properties ?? {})
  return { path: path.slice(1), schema, fields, responses: post.responses }
})
