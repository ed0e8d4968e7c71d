import type { Client } from '@temporalio/client'
import type { Sql } from '../../core/database/orm.ts'
import type { ErasureDependencies } from './routes/erase-lead.ts'
import type { ResetDependencies } from './routes/reset-sandbox.ts'
import { createErasureStarter } from './workflows/erasures.ts'
import { createResetStarter } from './workflows/resets.ts'

interface Tools {
  client: Client
  sql: Sql
  /** Waits for nothing. */
  leftToSweep: (starting: Promise<void>) => void
}

/** What the routes of erasures work with. */
export function forErasures({ client, sql, leftToSweep }: Tools): ErasureDependencies & ResetDependencies {
  const start = createErasureStarter({ client, sql })
  const startReset = createResetStarter({ client, sql })
  return {
    startErasure: (leadId) => leftToSweep(start(leadId)),
    startReset: (partnerId) => leftToSweep(startReset(partnerId)),
  }
}
