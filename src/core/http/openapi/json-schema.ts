import type { z } from 'zod'

interface Described {
  zodSchema: z.core.$ZodTypes
  jsonSchema: z.core.JSONSchema.BaseSchema
}

/** Where OpenAPI keeps named schemas. */
const COMPONENTS = '#/components/schemas/'

export const refTo = (id: string) => `${COMPONENTS}${id}`

/** What OpenAPI needs to know of a schema beside what JSON Schema says. */
export function describeSchema({ zodSchema: { _zod }, jsonSchema }: Described): void {
  const { def } = _zod
  if (typeof jsonSchema['describedAs'] === 'string') describeAs(jsonSchema, jsonSchema['describedAs'])
  if (def.type === 'union' && 'discriminator' in def) {
    const { discriminator, options } = def as z.core.$ZodDiscriminatedUnionDef
    jsonSchema['discriminator'] = {
      propertyName: discriminator,
      mapping: mappingOf(discriminator, options, jsonSchema),
    }
  }
  if (typeof jsonSchema['others'] === 'string') addOthers(jsonSchema, jsonSchema['others'])
  if (jsonSchema['open'] === true) openEnum(jsonSchema)
  // descriptions say it, and generated clients would take such fields for required
  delete jsonSchema.default
  // the bounds of all integers say nothing
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  // Responses and webhooks may gain fields: a reader that rejects unknown ones would break. Strict requests say so.
  const isStrict = def.type === 'object' && def.catchall !== undefined
  // In TypeScript, a type for them would have to be that of the named fields, too.
  if (typeof jsonSchema.additionalProperties === 'object' && jsonSchema.properties !== undefined)
    jsonSchema.additionalProperties = true
  if (jsonSchema.additionalProperties === false && !isStrict) delete jsonSchema.additionalProperties
}

/** Another schema's name takes the place of all that was said. */
function describeAs(jsonSchema: Described['jsonSchema'], id: string): void {
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  jsonSchema.$ref = refTo(id)
}

/** A union that gains members later: what is none of today's is of the schema `id`, which no value is mapped to. */
function addOthers(jsonSchema: Described['jsonSchema'], id: string): void {
  delete jsonSchema['others']
  jsonSchema.oneOf?.push({ $ref: refTo(id) })
}

/** Values that are added later: a generated client that knows today's only would refuse a whole response. */
function openEnum(jsonSchema: Described['jsonSchema']): void {
  const { type = 'string', enum: known = [] } = jsonSchema
  for (const key of ['open', 'type', 'enum']) delete jsonSchema[key]
  jsonSchema.anyOf = [{ type, enum: known }, { type }]
}

/** Which schema belongs to each value of the field that tells them apart. */
function mappingOf(field: string, options: readonly z.core.SomeType[], { oneOf }: Described['jsonSchema']) {
  const entries = (options as readonly z.core.$ZodTypeDiscriminable[]).flatMap(({ _zod }, index) =>
    Array.from(_zod.propValues?.[field] ?? [], (value) => [String(value), oneOf?.[index]?.$ref] as const),
  )
  return Object.fromEntries(entries)
}
