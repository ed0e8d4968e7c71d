import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../../core/database/columns.ts'

/**
 * An erasure that is about to begin, by the id that its lines in the journal have. Committed before its transaction, which
 * removes it: a row that is left says that the transaction did not commit, and a record from before it has no row.
 */
export const ErasureIntent = defineEntity({
  name: 'ErasureIntent',
  tableName: 'erasure_intents',
  properties: {
    id: p.text().primary(),
    notedAt: instant().defaultRaw('clock_timestamp()'),
  },
})
