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
    createdAt: instant().defaultRaw('now()'),
    /** When the record was restored, until the partner is told. */
    restoredAt: instant().nullable(),
  },
})
