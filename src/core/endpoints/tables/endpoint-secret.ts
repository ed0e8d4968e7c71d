import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'
import { Endpoint } from './endpoint.ts'

export const EndpointSecret = defineEntity({
  name: 'EndpointSecret',
  tableName: 'endpoint_secrets',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    endpoint: () => p.manyToOne(Endpoint).deleteRule('cascade').index(),
    /** Sealed. */
    ciphertext: p.text(),
    createdAt: instant().defaultRaw('now()'),
    /** When a rotated secret stops signing; null for the current one. */
    expiresAt: instant().nullable(),
  },
})
