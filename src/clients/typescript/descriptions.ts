import type { Document, Schema } from '../document.ts'
import { methods } from './methods.ts'
import { camelCase } from './src/wire.ts'

/** In descriptions, the names of fields and calls become the client’s; values stay. */
export function renaming(paths: Document['paths'], schemas: Document['components']['schemas']) {
  const fields = new Set(Object.values(schemas).flatMap(fieldsIn))
  const calls = new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.values(operations).map(({ operationId }) => [path.split('/').at(-1), methodOf(operationId)]),
    ),
  )
  const rename = (text: string) =>
    text
      .replace(/`(\w+)`/g, (whole, name: string) => (fields.has(name) ? `\`${camelCase(name)}\`` : whole))
      .replace(/\b[a-z]+-[a-z-]+/g, (name) => (calls.has(name) ? `\`${calls.get(name)}\`` : name))
  const inSchema = (schema: Schema): Schema =>
    JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
      key === 'description' && typeof value === 'string' ? rename(value) : value,
    ) as Schema
  return inSchema
}

/** Names of the schema’s fields, at any depth. */
function fieldsIn({ properties = {}, items, anyOf = [], oneOf = [] }: Schema): string[] {
  const within = [...Object.values(properties), ...anyOf, ...oneOf, ...(items ? [items] : [])]
  return [...Object.keys(properties), ...within.flatMap(fieldsIn)]
}

function methodOf(operationId: string): string {
  const method = methods[operationId]
  if (method === undefined) throw new Error(`methods.ts has no method for ${operationId}`)
  return method
}
