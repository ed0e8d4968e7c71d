import { hasZodFastifySchemaValidationErrors } from '@fastify/type-provider-zod'
import type { FastifyError, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { z } from 'zod'

/** The names of the fields that a body has by its schema. */
export const fieldsOf = (schema: unknown): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : []

/** Which of a call's own fields an error says are wrong: never a name that the sender made up. */
export function wrongFields(error: FastifyError, { routeOptions }: FastifyRequest): string[] {
  if (!hasZodFastifySchemaValidationErrors(error)) return []
  const faults = error.validation as FastifySchemaValidationError[]
  const wrong = new Set(faults.map(({ instancePath }) => instancePath.split('/')[1]))
  return fieldsOf(routeOptions.schema?.body).filter((field) => wrong.has(field))
}
