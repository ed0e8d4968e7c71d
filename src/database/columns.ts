import { p } from '@mikro-orm/core'

/** A moment in time, kept to the microsecond. */
export const instant = () => p.datetime().columnType('timestamptz')

/** A check that a column matches a pattern, which PostgreSQL reads as JavaScript does. */
export function like(column: string, { source }: RegExp): string {
  return `${column} ~ '${source}'`
}

/** A check that a column holds one of `values`. */
export function oneOf(column: string, values: readonly string[]): string {
  return `${column} in (${values.map((value) => `'${value}'`).join(', ')})`
}
