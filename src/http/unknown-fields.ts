import type { Fault } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a route that ignores unknown fields and says which: noted before validation drops them. */
    ignoredFields: string[] | undefined
  }
}

/** A body of 64 KiB can have thousands of them. */
const MOST_NAMED = 5
export const MOST_IGNORED = 20
const MOST_CHARACTERS = 64

/** Names as their sender wrote them, without invisible characters. */
export function printable(name: string): string {
  const characters = Array.from(name.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?'))
  const isLong = characters.length > MOST_CHARACTERS
  return isLong ? `${characters.slice(0, MOST_CHARACTERS).join('')}…` : characters.join('')
}

/** The names in `body` that are not among `fields`; none if it is no object. */
export function unknownIn(body: unknown, fields: readonly string[]): string[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return []
  return Object.keys(body).filter((name) => !fields.includes(name))
}

/** What a response says of fields that were ignored: `MOST_IGNORED` names at most; `undefined` if there are none. */
export function ignoredIn(body: unknown, fields: readonly string[]): string[] | undefined {
  const unknown = unknownIn(body, fields)
  return unknown.length === 0 ? undefined : unknown.slice(0, MOST_IGNORED).map(printable)
}

/** The problem of a name that is not among `fields`. */
export const notAmong = (fields: readonly string[]) =>
  `is not a field (${fields.length === 0 ? 'send an empty object' : `use ${fields.join(', ')}`})`

/** Says the problem of each of `unknown`. */
export function unknownFaults(unknown: readonly string[], problem: string): Fault[] {
  const faults: Fault[] = unknown
    .slice(0, MOST_NAMED)
    .map((name) => ({ field: printable(name) || '""', problem }))
  if (unknown.length > MOST_NAMED) faults.push({ problem: `and ${unknown.length - MOST_NAMED} more` })
  return faults
}
