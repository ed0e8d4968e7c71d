import { resendId } from '../temporal/names.ts'
import type { Swept } from '../temporal/sweep.ts'
import { partnersWithResends } from './statements/resend-marks.ts'
import type { StartResends } from './workflows/resend.ts'

/** Partners with webhooks to send once more. */
export const resendsLeftOut = (startResends: StartResends): Swept => ({
  failure: 'cannot start a partner’s resends; trying again every minute',
  idName: 'partner_id',
  workflowId: resendId,
  find: partnersWithResends,
  start: (partnerId) => startResends(partnerId, { quietly: true }),
})
