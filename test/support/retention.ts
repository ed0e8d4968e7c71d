import { type RetentionClass, retentionClasses } from '../../src/domain/retention.ts'

/** Every class off. */
export const KEEP_ALL = Object.fromEntries(retentionClasses.map((name) => [name, null])) as Record<
  RetentionClass,
  null
>
