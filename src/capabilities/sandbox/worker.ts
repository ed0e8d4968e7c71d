import { clockMovedSignal, type SimulateRequest } from '../../../workflows/messages.ts'
import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { CloseReason } from '../../core/leads/decisions/reasons.ts'
import type { Referrals } from '../../core/leads/workflows/referrals.ts'
import type { Sql } from '../../core/database/orm.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import { partnersWithScenarios, runsToLookAfter } from './statements/sandbox-runs.ts'
import { createRunKeeper } from './workflows/sandbox-runs.ts'
import { createScenarios } from './workflows/scenarios.ts'

/** Scenarios that wait for their turn, and runs whose workflow may have been terminated. */
export function runsLeftOut({ client, sql, log }: { client: Client; sql: Sql; log: Logger }): Swept[] {
  const onFailure = (err: unknown, partnerId: number) =>
    log.warn({ err, partner_id: partnerId }, 'a scenario is not started yet')
  const { startWaiting } = createScenarios({ client, sql, onFailure })
  return [
    {
      failure: 'cannot start a partner’s scenarios; trying again every minute',
      idName: 'partner_id',
      find: partnersWithScenarios,
      start: startWaiting,
    },
    {
      failure: 'cannot start a run of a sandbox; trying again every minute',
      idName: 'run_id',
      find: runsToLookAfter,
      start: createRunKeeper({ client, sql }),
    },
  ]
}

/** How the activities of scenarios and clocks reach a lead's workflow. */
export const forSandbox = (referrals: Pick<Referrals, 'play' | 'close' | 'signal'>) => ({
  play: (leadId: number, milestones: SimulateRequest) => referrals.play(leadId, milestones),
  close: (leadId: number, reason: CloseReason) => referrals.close(leadId, reason),
  tellClock: (leadId: number, offset: number) => referrals.signal(leadId, clockMovedSignal, { offset }),
})
