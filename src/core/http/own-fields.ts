import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { FieldProblem } from './errors.ts'

/** Which of a call's own fields are wrong: never a name that the sender made up. */
export function ownFields(wrong: readonly FieldProblem[], { routeOptions }: FastifyRequest): string[] {
  const schema = routeOptions.schema?.body
  if (!(schema instanceof z.ZodObject)) return []
  const names = new Set(wrong.map(({ field }) => field.split(/[.[]/, 1)[0]))
  return Object.keys(schema.shape).filter((name) => names.has(name))
}
