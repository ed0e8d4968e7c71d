import { z } from 'zod'

/** Where OpenAPI keeps the schema of this name. */
export const refTo = (id: string) => `#/components/schemas/${id}`

/** Names of which some are added later: a generated client that knows today's only would refuse a whole response. */
export const openEnum = (id: string, names: readonly string[], description: string) =>
  z.union([z.enum(names), z.string()]).meta({ id, description })

/** One of the schemas in `oneOf`, which a field tells apart; what is none of them is of the last, whose values are later ones. */
export const discriminated = (
  id: string,
  field: string,
  kinds: readonly { schemaId: string; names: readonly string[]; schema: z.ZodType }[],
  others: z.ZodType,
  description?: string,
) =>
  z.xor([...kinds.map(({ schema }) => schema), others]).meta({
    id,
    ...(description && { description }),
    discriminator: {
      propertyName: field,
      mapping: Object.fromEntries(
        kinds.flatMap(({ schemaId, names }) => names.map((name) => [name, refTo(schemaId)])),
      ),
    },
  })

/** All schemas that have an id, by their ids. A schema of a response has no defaults, so input says what both hold. */
export function namedSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    io: 'input',
    unrepresentable: 'any',
    uri: refTo,
    override: ({ jsonSchema }) => {
      // descriptions say it, and generated clients would take such fields for required
      delete jsonSchema.default
      // in TypeScript, a type for further fields would have to be that of the named ones, too
      if (typeof jsonSchema.additionalProperties === 'object' && jsonSchema.properties)
        jsonSchema.additionalProperties = true
      // the bounds of all integers say nothing
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  const named = Object.entries(schemas).map(
    ([name, { $schema: _dialect, $id: _uri, id: _id, ...schema }]) => [name, schema] as const,
  )
  return Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** In examples only: what the reference signs its example webhooks with. */
export const EXAMPLE_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
