import type { ReferralState } from '../../src/core/leads/decisions/referral.ts'
import { referralId } from '../../src/core/temporal/names.ts'
import { until } from '../support/until.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Ground } from './rehearse.ts'

const CHAT = 'client_engaged_in_chat'
const GAINS = {
  experian_gain: 1,
  equifax_gain: 1,
  transunion_gain: 1,
  estimated_time_remaining: '30-60 days',
}

/**
 * A lead with a score update before Temporal's copy and one after it, whose webhook still waits when Temporal is lost. The
 * copy knows nothing of the second, its status is the same, and nothing else happens to the lead.
 */
export function stillLead({ stack }: Ground) {
  const { call, service, refusing } = stack
  let leadId = 0
  const record = (id: string) =>
    service.referrals.record(leadId, { name: 'score_update', id, event_payload: GAINS })
  const deliveries = () =>
    service.sql.selectFrom('deliveries').select(['state', 'failures']).where('lead_id', '=', leadId).execute()

  /** Sends a milestone that may repeat, without an id; whether the record has `count` of them by then. */
  async function chat(count: number): Promise<boolean> {
    await service.referrals.signal(leadId, CHAT)
    const events = service.sql.selectFrom('lead_events').select('id').where('lead_id', '=', leadId)
    const chats = events.where('event_name', '=', CHAT)
    const isThere = async () => (await chats.execute()).length === count
    return until(isThere).catch(() => false)
  }

  return {
    beforeCopy: async (): Promise<void> => {
      const borrower = { first_name: 'Ada', last_name: 'Still', email: 'ada@example.com', phone: '555-0100' }
      leadId = Number((await call('create-lead', borrower)).body.lead_id)
      await record('before')
      // not only the record: what the copy shows of the lead must be that all is sent
      const handle = service.client.workflow.getHandle(referralId(leadId))
      await until(async () => {
        const { next, last } = await handle.query<ReferralState>('state')
        return last === 2 && next === 3
      })
    },
    afterCopy: async (): Promise<void> => {
      await chat(1)
      refusing.next.add(leadId)
      await record('after')
      await until(async () => (await deliveries()).some(({ failures }) => failures === 1))
    },
    /** Its workflow must not count another one as the one that the copy did not have. */
    verify: async (): Promise<Broken[]> =>
      brokenBy('a milestone without an id counts each time', (await chat(2)) ? [] : [`lead ${leadId}`]),
  }
}
