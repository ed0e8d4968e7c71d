import { beforeAll, describe, expect, it } from '@jest/globals'
import type { ReferralView } from '../../workflows/messages.ts'
import { putClockAhead } from '../support/clock.ts'
import { leadsOf } from '../support/leads.ts'
import { published } from '../support/published.ts'
import type { TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

const CHAT = 'client_engaged_in_chat'
const PERIOD_S = 45 * 24 * 60 * 60
/** While one signal follows the other, a run ends between some of them. */
const LEADS = 2
const CHATS = 40

describe('a run that continues as new', () => {
  let service: SharedService
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let ended: { leadId: number; runId: string }[]

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    ended = await Promise.all(Array.from({ length: LEADS }, live))
  })

  const handleOf = (leadId: number, runId?: string) =>
    service.client.workflow.getHandle(`lead-${leadId}`, runId)
  const view = (leadId: number) => handleOf(leadId).query<ReferralView>('state')
  const names = async (leadId: number) => (await leads.names(leadId)).filter((name) => name !== CHAT)

  /** A lead whose first run ends while chats arrive; answers that run. */
  async function live() {
    const leadId = await leads.start()
    await service.referrals.signal(leadId, 'escrow_funded')
    // noted as a repeat, in this run
    await service.referrals.signal(leadId, 'escrow_funded')
    await until(async () => (await view(leadId)).next === 3)
    const { runId } = await handleOf(leadId).describe()
    await putClockAhead(service.sql, leadId, PERIOD_S)
    await service.referrals.signal(leadId, 'read_record')
    for (let id = 0; id < CHATS; id += 1) await service.referrals.signal(leadId, CHAT, { id: String(id) })
    await until(async () => (await handleOf(leadId).describe()).runId !== runId)
    expect((await handleOf(leadId, runId).describe()).status.name).toBe('CONTINUED_AS_NEW')
    return { leadId, runId }
  }

  it('loses, doubles and reorders no signal that is sent meanwhile, and no webhook', async () => {
    for (const { leadId } of ended) {
      await service.referrals.signal(leadId, 'mortgage_ready')
      await partner.endpoint.until(() => leads.arrivals(leadId).length === 4)
      expect(await names(leadId)).toEqual([
        'lead_received',
        'escrow_funded',
        'score_update',
        'mortgage_ready',
      ])
      const chats = service.sql.selectFrom('lead_events').select('dedupe_key').where('event_name', '=', CHAT)
      const rows = await chats.where('lead_id', '=', leadId).orderBy('position').execute()
      expect(rows.map((row) => row.dedupe_key)).toEqual(
        Array.from({ length: CHATS }, (_, id) => `${CHAT}:${id}`),
      )
      expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 4])
    }
  })

  it('hands on its state, its counts and notes, and what operators and searches see', async () => {
    const [{ leadId, runId }] = ended as [(typeof ended)[number]]
    const { anchor, signals, notes } = await view(leadId)
    expect(anchor).not.toBeNull()
    expect(signals).toMatchObject({ received: CHATS + 3, recorded: CHATS + 2, repeated: 1 })
    expect(notes).toContainEqual(expect.objectContaining({ what: 'escrow_funded' }))
    const { currentDetails } = await handleOf(leadId).query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    )
    const { events } = await handleOf(leadId).fetchHistory()
    const { continuedExecutionRunId } = events?.[0]?.workflowExecutionStartedEventAttributes ?? {}
    expect(currentDetails).toContain(`in run \`${continuedExecutionRunId}\``)
    expect(await published(handleOf(leadId))).toMatchObject({
      LeadId: leadId,
      PartnerId: partner.id,
      LeadStatus: 'mortgage_ready',
    })
    const { memo } = await handleOf(leadId).describe()
    expect(memo).toEqual((await handleOf(leadId, runId).describe()).memo)
  })
})
