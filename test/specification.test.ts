import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { putClockAhead } from './support/clock.ts'
import { milestones, statuses } from '../src/leads/milestones.ts'
import { SCORE_PERIOD_DAYS } from '../src/leads/score-dates.ts'
import { atEnd } from './support/at-end.ts'
import { leadsOf } from './support/leads.ts'
import { listen } from './support/listen.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const DAY = 24 * 60 * 60

/** A score provider that has no scores. */
async function startFailingProvider() {
  const requests: { authorization: string | undefined; body: unknown }[] = []
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      requests.push({ authorization: request.headers.authorization, body })
      response.writeHead(503).end()
    })
  })
  atEnd(async () => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${await listen(server)}/scores`, requests }
}

describe('sentences of the specification that no other test holds', () => {
  let service: Service
  let partner: TestPartner
  let calls: ReturnType<typeof partnerCalls>
  let leads: ReturnType<typeof leadsOf>
  let provider: Awaited<ReturnType<typeof startFailingProvider>>

  beforeAll(async () => {
    provider = await startFailingProvider()
    service = await prepareService({ SCORE_PROVIDER_URL: provider.url, SCORE_PROVIDER_TOKEN: 'token' })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    calls = partnerCalls(api.port, partner.key)
  })

  const read = async (leadId: number): Promise<Record<string, string>> =>
    (await calls.post('get-lead', { lead_id: leadId })).body.data as never
  const events = async (leadId: number): Promise<{ event_name: string; event_payload: unknown }[]> =>
    (await calls.post('get-events', { lead_id: leadId })).body.data as never
  const notes = async (leadId: number): Promise<string> =>
    JSON.stringify(
      (await service.client.workflow.getHandle(`lead-${leadId}`).query<{ notes: unknown }>('state')).notes,
    )
  const advance = async (leadId: number, seconds: number) => {
    await putClockAhead(service.sql, leadId, seconds)
    await service.referrals.signal(leadId, 'read_record')
  }

  it('the milestones are those of the specification, and all but the chat are webhooks and a status', () => {
    const documented = [
      'lead_received',
      'client_account_created',
      'credit_scan_completed',
      'contract_signed',
      'escrow_funded',
      'score_update',
      'mortgage_ready',
    ]
    expect(statuses).toEqual(documented)
    const sent = Object.entries(milestones).flatMap(([name, { webhook }]) => (webhook ? name : []))
    expect(sent.toSorted()).toEqual(documented.toSorted())
    expect(Object.keys(milestones)).toHaveLength(8)
    expect(milestones.client_engaged_in_chat.webhook).toBe(false)
  })

  it('updated_at follows each change of the lead, created_at stays', async () => {
    const leadId = await calls.createLead()
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 1)
    const longAgo = new Date('2026-01-01T00:00:00Z')
    const age = () =>
      service.sql
        .updateTable('leads')
        .set({ created_at: longAgo, updated_at: longAgo })
        .where('id', '=', leadId)
        .execute()
    const changes = [
      () => calls.post('update-partner-info', { lead_id: leadId, branch: 'Austin' }),
      async () => {
        await service.referrals.signal(leadId, 'contract_signed')
        await leads.recorded(leadId, 'contract_signed')
      },
    ]
    for (const change of changes) {
      await age()
      expect(await read(leadId)).toMatchObject({ updated_at: '2026-01-01 00:00:00' })
      await change()
      const { created_at, updated_at } = await read(leadId)
      expect(created_at).toBe('2026-01-01 00:00:00')
      expect(updated_at).not.toBe(created_at)
    }
  })

  it('a payload sent with a milestone whose payload is null is dropped and noted', async () => {
    const leadId = await calls.createLead()
    const names = ['client_account_created', 'client_engaged_in_chat', 'contract_signed', 'mortgage_ready']
    for (const name of names) {
      await service.referrals.signal(leadId, name, { event_payload: { a: 'b' } })
      await leads.recorded(leadId, name)
    }
    const history = await events(leadId)
    expect(history.map(({ event_name }) => event_name)).toEqual(['lead_received', ...names])
    expect(history.slice(1).every(({ event_payload }) => event_payload === null)).toBe(true)
    for (const name of names) expect(await notes(leadId)).toContain(name)
  })

  it('a fact that comes within 30 days after mortgage_ready is recorded', async () => {
    const leadId = await calls.createLead()
    await service.referrals.signal(leadId, 'mortgage_ready')
    await leads.recorded(leadId, 'mortgage_ready')
    await advance(leadId, 29 * DAY)
    await service.referrals.signal(leadId, 'client_engaged_in_chat')
    await leads.recorded(leadId, 'client_engaged_in_chat')
    expect(await read(leadId)).toMatchObject({ status: 'mortgage_ready' })
  })

  it('a score provider that fails until the next date means no update, noted, never invented numbers', async () => {
    const leadId = await calls.createLead()
    await service.referrals.signal(leadId, 'escrow_funded')
    await leads.recorded(leadId, 'escrow_funded')
    // twelve seconds before the second date: so long the first update may be asked for
    await advance(leadId, 2 * SCORE_PERIOD_DAYS * DAY - 12)
    await until(async () => (await notes(leadId)).includes('score update 1'))
    expect(await leads.names(leadId)).toEqual(['lead_received', 'escrow_funded'])
    expect(provider.requests[0]).toEqual({
      authorization: 'Bearer token',
      body: { lead_id: leadId, period: 1 },
    })
  })
})
