import { p } from '@mikro-orm/core'

/** A moment in time, kept to the microsecond. */
export const instant = () => p.datetime().columnType('timestamptz')
