import { referralId } from '../temporal/names.ts'
import type { Swept } from '../temporal/sweep.ts'
import { unstartedLeads } from './statements/workflow-starts.ts'
import type { Referrals } from './workflows/referrals.ts'

/** Younger leads are being started by the API that took them. */
const MIN_AGE_MS = 1000

/** Leads whose workflow was not started. */
export const unstarted = (referrals: Pick<Referrals, 'startFirst'>, inFlight: number): Swept => ({
  failure: 'cannot start a lead’s workflow; trying again every minute',
  idName: 'lead_id',
  workflowId: referralId,
  find: (sql, limit, but) => unstartedLeads(sql, { olderThanMs: MIN_AGE_MS, but, limit: limit - but.length }),
  start: (leadId) => referrals.startFirst(leadId),
  urgent: { inFlight },
})
