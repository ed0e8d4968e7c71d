import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../columns.ts'

/** How far retention has come with a class of data. */
export const RetentionRun = defineEntity({
  name: 'RetentionRun',
  tableName: 'retention_runs',
  properties: {
    class: p.text().primary(),
    /** When it last ran to its end, and what it removed then. */
    ranAt: instant().nullable(),
    removed: p.integer().default(0),
    /** Everything up to this id has been looked at; for classes without an index of their own. */
    doneUpTo: p.text().default(''),
  },
})
