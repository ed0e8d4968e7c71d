import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'

export const Partner = defineEntity({
  name: 'Partner',
  tableName: 'partners',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    name: p.text(),
    contactEmail: p.text().nullable(),
    /** Whether it changes its endpoint itself in production; in a sandbox each does. */
    selfService: p.boolean().default(false),
    /** After how many days without a milestone its leads are closed; null for the setting, 0 for never. */
    dormantAfterDays: p.integer().nullable(),
    createdAt: instant().defaultRaw('now()'),
  },
  checks: [{ name: 'partners_dormant_after_days_check', expression: 'dormant_after_days >= 0' }],
})
