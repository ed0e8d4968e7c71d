import type { Client } from '@temporalio/client'
import type { Sql } from '../../core/database/orm.ts'
import type { ClosingDependencies } from './routes/close-lead.ts'
import { createClosingStarter } from './workflows/closings.ts'

interface Tools {
  client: Client
  sql: Sql
  /** Waits for nothing. */
  leftToSweep: (starting: Promise<void>) => void
}

/** What the route of closings works with. */
export function forClosings({ client, sql, leftToSweep }: Tools): ClosingDependencies {
  const start = createClosingStarter({ client, sql })
  return { startClosing: (leadId) => leftToSweep(start(leadId)) }
}
