import { defineEntity, p } from '@mikro-orm/core'
import { type RestoreCause, restoreCauses } from '../../../core/record/decisions/restore.ts'
import { instant, oneOf } from '../../../core/database/columns.ts'

/** A time when the record may have gone back, by the generation that began with it. */
export const Restore = defineEntity({
  name: 'Restore',
  tableName: 'restores',
  properties: {
    generation: p.integer().primary().autoincrement(false),
    at: instant().defaultRaw('clock_timestamp()'),
    cause: p.text().$type<RestoreCause>(),
    /** How far the record reached, to a few seconds; `null` if it does not say. */
    reachedUntil: instant().nullable(),
    /** When all workflows had taken it over. */
    finishedAt: instant().nullable(),
    /** When a person said that they have seen what was lost. */
    seenAt: instant().nullable(),
  },
  checks: [{ name: 'restores_cause_check', expression: oneOf('cause', restoreCauses) }],
})
