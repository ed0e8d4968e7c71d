import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'

/** A key of ENCRYPTION_KEY under which values are or were sealed; it isn't the key itself. */
export const EncryptionKey = defineEntity({
  name: 'EncryptionKey',
  tableName: 'encryption_keys',
  properties: {
    /** As in the values: the first eight digits of the key's SHA-256. */
    id: p.text().primary(),
    firstUsedAt: instant().defaultRaw('clock_timestamp()'),
    /** Since when no value is under it. */
    retiredAt: instant().nullable(),
  },
})
