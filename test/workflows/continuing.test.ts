import { beforeAll, describe, expect, it } from '@jest/globals'
import { SCORE_PERIOD_DAYS } from '../../src/leads/score-dates.ts'
import { published } from '../support/published.ts'
import { until } from '../support/until.ts'
import { type Fixture, sharedFixture } from './scenes.ts'

const CHAT = 'client_engaged_in_chat'
/** So many signals follow each other that a run ends between some of them. */
const LEADS = 2
const CHATS = 40

describe('a run that continues as new', () => {
  let fixture: Fixture
  let ended: { leadId: number; runId: string }[]

  beforeAll(async () => {
    fixture = await sharedFixture()
    ended = await Promise.all(Array.from({ length: LEADS }, live))
  })

  const names = async (leadId: number) => (await fixture.leads.names(leadId)).filter((name) => name !== CHAT)

  /** A lead whose first run ends while chats arrive. Returns that run. */
  async function live() {
    const leadId = await fixture.leads.start()
    await fixture.send(leadId, 'escrow_funded')
    // noted as a repeat, in this run
    await fixture.send(leadId, 'escrow_funded')
    await until(async () => (await fixture.view(leadId)).next === 3)
    const { runId } = await fixture.handleOf(leadId).describe()
    await fixture.advance(leadId, SCORE_PERIOD_DAYS)
    for (let id = 0; id < CHATS; id += 1) await fixture.send(leadId, CHAT, { id: String(id) })
    await until(async () => (await fixture.handleOf(leadId).describe()).runId !== runId)
    expect((await fixture.handleOf(leadId, runId).describe()).status.name).toBe('CONTINUED_AS_NEW')
    return { leadId, runId }
  }

  it('loses, doubles and reorders no signal that is sent meanwhile, and no webhook', async () => {
    for (const { leadId } of ended) {
      await fixture.send(leadId, 'mortgage_ready')
      await fixture.arrived(leadId, 4)
      expect(await names(leadId)).toEqual([
        'lead_received',
        'escrow_funded',
        'score_update',
        'mortgage_ready',
      ])
      const chats = fixture.service.sql
        .selectFrom('lead_events')
        .select('dedupe_key')
        .where('event_name', '=', CHAT)
      const rows = await chats.where('lead_id', '=', leadId).orderBy('position').execute()
      expect(rows.map((row) => row.dedupe_key)).toEqual(
        Array.from({ length: CHATS }, (_, id) => `${CHAT}:${id}`),
      )
      expect(fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 4])
    }
  })

  it('hands on its state, counts, notes and search attributes', async () => {
    const [{ leadId, runId }] = ended as [(typeof ended)[number]]
    const { anchor, signals, notes } = await fixture.view(leadId)
    expect(anchor).not.toBeNull()
    expect(signals).toMatchObject({ received: CHATS + 3, recorded: CHATS + 2, repeated: 1 })
    expect(notes).toContainEqual(expect.objectContaining({ what: 'escrow_funded' }))
    expect(await published(fixture.handleOf(leadId))).toMatchObject({
      LeadId: leadId,
      PartnerId: fixture.partner.id,
      LeadStatus: 'mortgage_ready',
    })
    const { memo } = await fixture.handleOf(leadId).describe()
    expect(memo).toEqual((await fixture.handleOf(leadId, runId).describe()).memo)
  })
})
