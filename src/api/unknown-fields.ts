import { nearest } from '../nearest.ts'

/** A body of 64 KiB can have thousands of them. */
const MOST_NAMED = 5
const MOST_CHARACTERS = 64

/** Names as their sender wrote them, without invisible characters. */
export function printable(name: string): string {
  const readable = name.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?')
  return readable.length > MOST_CHARACTERS ? `${readable.slice(0, MOST_CHARACTERS)}…` : readable
}

/** Says of each of `unknown` that it is not among `fields`, and which one was probably meant. */
export function notFields(unknown: readonly string[], fields: readonly string[]): string {
  const lines = unknown
    .slice(0, MOST_NAMED)
    .map((name) => `${printable(name)} is not a field ${hint(name, fields)}`)
  if (unknown.length > MOST_NAMED) lines.push(`and ${unknown.length - MOST_NAMED} more`)
  return lines.join('; ')
}

function hint(name: string, fields: readonly string[]): string {
  if (fields.length === 0) return '(send an empty object)'
  const meant = nearest(name, fields)
  return meant === undefined ? `(use ${fields.join(', ')})` : `(did you mean ${meant}?)`
}
