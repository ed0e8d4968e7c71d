import type { Client } from '@temporalio/client'
import type { Sql } from '../../core/database/orm.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import { erasuresToStart } from './statements/requests.ts'
import { createErasureStarter } from './workflows/erasures.ts'

/** Erasures that are requested. */
export function erasuresLeftOut(dependencies: { client: Client; sql: Sql }): Swept {
  const start = createErasureStarter(dependencies)
  return {
    what: 'a lead’s erasure',
    idName: 'lead_id',
    find: erasuresToStart,
    start: (leadId) => start(leadId, { quietly: true }),
  }
}
