import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { leadsOf } from '../support/leads.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import type { Arrival } from '../support/partner-endpoint.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const SEED = 20_261_121
/** Events after which the server suggests to continue as new, so that every lead does in the middle of its deliveries. */
const EVENTS_PER_RUN = 60
const LEADS = 6
const CHATS = 6
const MILESTONES = [
  'client_account_created',
  'contract_signed',
  'escrow_funded',
  'score_update',
  'mortgage_ready',
]

/** What the endpoint does with an arrival: the same for the same seed and number. */
function fate(number: number): 'take' | 'fail' | 'reset' {
  const [roll = 0] = createHash('sha256').update(`${SEED} ${number}`).digest()
  if (roll < 80) return 'fail'
  return roll < 110 ? 'reset' : 'take'
}

describe('webhooks of a lead', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  const leadIds: number[] = []
  const taken = new Map<number, number[]>()
  const outOfTurn: string[] = []
  const last = MILESTONES.length + 1

  beforeAll(async () => {
    const temporal = await ownTemporal([`limit.historyCount.suggestContinueAsNew=${EVENTS_PER_RUN}`])
    service = await prepareService({ TEMPORAL_ADDRESS: temporal.address })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    partner.endpoint.answer = answer
    const [first] = await Promise.all([service.startWorker(), service.startWorker()])
    for (let count = 0; count < LEADS; count += 1) leadIds.push(await leads.start())
    const pace = setInterval(() => void hurry(), 150)
    await Promise.all(leadIds.map(makeProgress))
    await first.kill()
    await service.startWorker()
    await partner.endpoint.until(() => leadIds.every((leadId) => taken.get(leadId)?.at(-1) === last))
    clearInterval(pace)
  }, 120_000)

  function answer({ event: { data } }: Arrival, response: Parameters<typeof partner.endpoint.answer>[1]) {
    const before = taken.get(data.lead_id) ?? []
    if (data.sequence > (before.at(-1) ?? 0) + 1) outOfTurn.push(`lead ${data.lead_id} #${data.sequence}`)
    const verdict = fate(partner.endpoint.arrivals.length)
    if (verdict === 'reset') response.destroy()
    else if (verdict === 'fail') response.writeHead(500).end()
    else {
      if (data.sequence > (before.at(-1) ?? 0)) taken.set(data.lead_id, [...before, data.sequence])
      response.writeHead(200).end()
    }
  }

  async function makeProgress(leadId: number): Promise<void> {
    for (const name of MILESTONES) {
      await service.referrals.signal(leadId, name)
      for (let chat = 0; chat < CHATS; chat += 1)
        await service.referrals.signal(leadId, 'client_engaged_in_chat')
      await delay(50)
    }
  }

  /** Lets the waits of the schedule pass. */
  async function hurry(): Promise<void> {
    const moved = await service.sql
      .updateTable('deliveries')
      .set({ next_attempt_at: raw<Date>`clock_timestamp()` })
      .where('state', '=', 'pending')
      .where('next_attempt_at', '>', raw<Date>`clock_timestamp()`)
      .returning('lead_id')
      .execute()
    await Promise.all(moved.map(({ lead_id: leadId }) => service.referrals.signal(leadId, 'wake')))
  }

  it('come first in, first out, whatever the endpoint answers, whichever worker is killed and whenever a run ends', () => {
    expect(outOfTurn).toEqual([])
    const expected = Array.from({ length: last }, (_, index) => index + 1)
    for (const leadId of leadIds) expect(taken.get(leadId)).toEqual(expected)
  })

  it('keep their id and bytes on every attempt', () => {
    const { arrivals } = partner.endpoint
    for (const leadId of leadIds) {
      for (let sequence = 1; sequence <= last; sequence += 1) {
        const same = arrivals.filter(
          ({ event: { data } }) => data.lead_id === leadId && data.sequence === sequence,
        )
        expect(new Set(same.map(({ id, body }) => `${id} ${body}`)).size).toBe(1)
      }
    }
    expect(arrivals.every(({ verified }) => verified)).toBe(true)
  })

  it('were really put to the test', async () => {
    expect(partner.endpoint.arrivals.length).toBeGreaterThan(LEADS * last * 1.3)
    for (const leadId of leadIds) {
      const { raw: lead, runId } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
      expect(lead.workflowExecutionInfo?.firstRunId).not.toBe(runId)
    }
  })
})
