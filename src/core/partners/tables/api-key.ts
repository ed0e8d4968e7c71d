import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'
import { Partner } from './partner.ts'

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict').index(),
    /** SHA-256 of the whole key, in hex; the key itself is never stored. */
    hash: p.text().unique(),
    last4: p.text(),
    createdAt: instant().defaultRaw('now()'),
    expiresAt: instant().nullable(),
    revokedAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
  },
})
