import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../../core/database/columns.ts'
import { Partner } from '../../../core/partners/tables/partner.ts'

/** The latest time that a partner began again. Sandbox only. */
export const Reset = defineEntity({
  name: 'Reset',
  tableName: 'resets',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.oneToOne(Partner).owner().deleteRule('restrict'),
    /** The key that asked, as the audit names it. */
    requestedBy: p.text(),
    /** Leads that are younger stay. */
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    /** How many were to be erased then, and how many were held. */
    leads: p.integer(),
    held: p.integer(),
    /** When its workflow was last started, or found running. */
    startedAt: instant().nullable(),
    /** When all of them were erased, and that was checked. */
    finishedAt: instant().nullable(),
  },
})
