import { sql as raw } from 'kysely'

/** A value for a jsonb column: the driver would turn an array or a string into something else. */
export function jsonb<Value>(value: Value) {
  return value === null ? null : raw<Value>`${JSON.stringify(value)}::jsonb`
}
