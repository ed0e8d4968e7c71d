import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { z } from 'zod'
import { type Fault, lineOf } from './errors.ts'
import { notAmong, printable, unknownFaults, unknownIn } from './unknown-fields.ts'

/** zod’s code for a field that a strict body does not have. */
const UNKNOWN_FIELDS = 'unrecognized_keys'
/** Keep the response short: a body of 64 KiB can have thousands of invalid fields. */
const MAX_FAULTS = 50

/** Names every invalid field once, and what it needs. It never repeats a whole value. */
export function faultsOf(issues: FastifySchemaValidationError[], request: FastifyRequest): Fault[] {
  const found = oneForEach(issues)
  const faults = found.slice(0, MAX_FAULTS).flatMap((fault) => describe(fault, request.body))
  if (found.length > MAX_FAULTS) faults.push({ problem: `and ${found.length - MAX_FAULTS} more` })
  return faults.concat(unknownFields(request))
}

/**
 * The first of each field; one of a field's name comes after those of its value, and says more. What an object has beside its
 * fields is no fault of the object's.
 */
function oneForEach(issues: FastifySchemaValidationError[]): FastifySchemaValidationError[] {
  const kept = new Map<string, FastifySchemaValidationError>()
  for (const issue of issues) {
    const { keyword, instancePath } = issue
    const about = keyword === UNKNOWN_FIELDS ? `${instancePath}/` : instancePath
    if (keyword === 'custom' || !kept.has(about)) kept.set(about, issue)
  }
  return [...kept.values()]
}

function describe(
  { keyword, instancePath, message = 'is invalid', params }: FastifySchemaValidationError,
  body: unknown,
): Fault[] {
  const at = nameOf(instancePath.slice(1), body)
  if (keyword === UNKNOWN_FIELDS) return unknownAt(at, unknownFaults(params['keys'] as string[], message))
  const own = at === '' ? { problem: `the request body ${message}` } : { field: at, problem: message }
  const { faults } = (params['params'] ?? {}) as { faults?: Fault[] }
  if (faults === undefined || faults.length === 0) return [own]
  // the message says it once, for all of them
  return faults.map((fault, index) => ({ ...below(at, fault), line: index === 0 ? lineOf(own) : '' }))
}

/** What is wrong with a field of the object at a path. */
const below = (at: string, { field, problem }: Fault): Fault =>
  field === undefined ? { problem } : { field: at === '' ? field : `${at}.${field}`, problem }

/** The object is named once, before its first field. */
const unknownAt = (at: string, faults: readonly Fault[]): Fault[] =>
  faults.map((fault, index) => ({
    ...below(at, fault),
    line: at === '' || index > 0 ? lineOf(fault) : `in ${at}, ${lineOf(fault)}`,
  }))

/** `states/0` as its sender would write it: `states[0]`. A field’s own name may look like that, too. */
function nameOf(path: string, body: unknown): string {
  const isField = typeof body === 'object' && body !== null && Object.hasOwn(body, path)
  return printable(isField ? path : path.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.'))
}

/** Where unknown fields are ignored, one of them may be what is missing. */
function unknownFields({ body, routeOptions }: FastifyRequest): Fault[] {
  const schema = routeOptions.schema?.body
  const isLenient = schema instanceof z.ZodObject && schema.def.catchall === undefined
  if (!isLenient) return []
  const fields = Object.keys(schema.shape)
  // the message names them; they are ignored, so they are not what is wrong
  return unknownFaults(unknownIn(body, fields), notAmong(fields)).map((fault) => ({ problem: lineOf(fault) }))
}
