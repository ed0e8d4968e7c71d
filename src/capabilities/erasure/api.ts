import type { Client } from '@temporalio/client'
import type { Sql } from '../../core/database/orm.ts'
import type { ErasureDependencies } from './routes/erase-lead.ts'
import { createErasureStarter } from './workflows/erasures.ts'

interface Tools {
  client: Client
  sql: Sql
  /** Waits for nothing. */
  leftToSweep: (starting: Promise<void>) => void
}

/** What the routes of erasures work with. */
export function forErasures({ client, sql, leftToSweep }: Tools): ErasureDependencies {
  const start = createErasureStarter({ client, sql })
  return {
    startErasure: (leadId) => leftToSweep(start(leadId)),
  }
}
