import type { Client } from '@temporalio/client'
import { restoreId } from '../../core/temporal/names.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import type { Referrals } from '../../core/leads/workflows/referrals.ts'
import { openRestores } from './statements/restores.ts'
import { leadsActiveSince } from './workflows/active-leads.ts'
import { createRestoreStarter } from './workflows/restores.ts'

/** Restores of the record that leads and partners are not told of yet. */
export const restoresLeftOut = (client: Client): Swept => ({
  failure: 'cannot start what follows a restore; trying again every minute',
  idName: 'generation',
  workflowId: restoreId,
  find: openRestores,
  start: createRestoreStarter(client),
})

interface AfterRestore {
  client: Client
  referrals: Pick<Referrals, 'takeOver'>
}

/** How the activities after a restore find leads, and reach their workflows. */
export const forRestore = ({ client, referrals }: AfterRestore) => ({
  leadsActiveSince: (since: Date | undefined) => leadsActiveSince(client, since),
  takeOver: (leadId: number) => referrals.takeOver(leadId),
})
