import type { Client } from '@temporalio/client'
import type { Sql } from '../../core/database/orm.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import { partnersWithScenarios, runsToLookAfter } from './statements/sandbox-runs.ts'
import { createRunKeeper } from './workflows/sandbox-runs.ts'
import type { Scenarios } from './workflows/scenarios.ts'

/** Scenarios that wait for their turn, and runs whose workflow may have been terminated. */
export const runsLeftOut = (
  { client, sql }: { client: Client; sql: Sql },
  scenarios: Pick<Scenarios, 'startWaiting'>,
): Swept[] => [
  {
    what: 'a partner’s scenarios',
    idName: 'partner_id',
    find: partnersWithScenarios,
    start: scenarios.startWaiting,
  },
  {
    what: 'a run of a sandbox',
    idName: 'run_id',
    find: runsToLookAfter,
    start: createRunKeeper({ client, sql }),
  },
]
