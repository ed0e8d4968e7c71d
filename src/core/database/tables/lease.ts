import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../columns.ts'

/** Who does what one process at a time does: a row for each such job. */
export const Lease = defineEntity({
  name: 'Lease',
  tableName: 'leases',
  properties: {
    name: p.text().primary(),
    /** One higher each time that somebody takes it: whoever has an older one has lost it. */
    token: p.integer().default(0),
    /** By PostgreSQL's clock; `null` while nobody has it. */
    until: instant().nullable(),
  },
})
