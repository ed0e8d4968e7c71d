import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MOST_AHEAD_MS } from '../../src/core/leads/decisions/clock.ts'
import { MOST_EVENTS } from '../../src/core/leads/decisions/recording-decision.ts'
import { advanceId } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import {
  type ScenarioName,
  scenarioId,
  scenarioNames,
  webhooksOf,
} from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

interface Played {
  lead_id: number
  state: string
  status: string
  webhooks: string[]
}

describe('a scenario', () => {
  let service: SharedService
  let partner: TestPartner
  let port: number | undefined
  let calls: ReturnType<typeof partnerCalls>

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    calls = partnerCalls(port, partner.key)
  })

  const run = async (body: object) => {
    const answer = await calls.post('sandbox/run-scenario', body)
    return { status: answer.status, data: answer.body.data as object as Played }
  }
  const arrived = (leadId: number) =>
    partner.endpoint.arrivals.filter(({ event }) => event.data.lead_id === leadId)
  const history = async (leadId: number) =>
    service.sql
      .selectFrom('lead_events')
      .select(['event_name', 'created_at', 'event_payload'])
      .where('lead_id', '=', leadId)
      .orderBy('position')
      .execute()

  const namesOf = async (leadId: number) => (await history(leadId)).map((event) => event.event_name)
  const endOf = async (leadId: number): Promise<unknown> =>
    service.client.workflow.getHandle(scenarioId(leadId)).result()

  it.each(scenarioNames)('%s sends its webhooks, each once and in order', async (scenario) => {
    const { status, data } = await run({ scenario })
    expect([status, data.webhooks]).toEqual([200, webhooksOf(scenario)])
    // an answer that says that it is over comes after all of it: on a busy machine a year takes more than ten seconds
    const recorded = data.state === 'running' ? data.webhooks : await namesOf(data.lead_id)
    expect(recorded).toEqual(expect.arrayContaining(data.webhooks))
    expect([data.state, await endOf(data.lead_id)]).toEqual([
      expect.stringMatching(/^(?:done|running)$/),
      'done',
    ])
    await partner.endpoint.until(() => arrived(data.lead_id).length >= data.webhooks.length)
    expect(arrived(data.lead_id).map(({ event }) => event.type)).toEqual(data.webhooks)
    expect(arrived(data.lead_id).every(({ verified }) => verified)).toBe(true)
    const dates = (await history(data.lead_id)).map((event) => event.created_at.getTime())
    expect(dates).toEqual(dates.toSorted((one, other) => one - other))
  })

  it('is the same each time', async () => {
    const facts = async (scenario: ScenarioName) => {
      const { data } = await run({ scenario })
      await endOf(data.lead_id)
      const events = await history(data.lead_id)
      const began = events[0]?.created_at.getTime() ?? 0
      return events.map((event) => [
        event.event_name,
        Math.round((event.created_at.getTime() - began) / 86_400_000),
      ])
    }
    const [first, second] = await Promise.all([facts('scores_go_down'), facts('scores_go_down')])
    expect(second).toEqual(first)
    expect(first.filter(([name]) => name === 'score_update').map(([, day]) => day)).toEqual([22, 37, 52, 97])
  })

  it('has scores that go down', async () => {
    const { data } = await run({ scenario: 'scores_go_down' })
    await endOf(data.lead_id)
    const gains = (await history(data.lead_id))
      .filter(({ event_name: name }) => name === 'score_update')
      .map(({ event_payload: payload }) => (payload as { experian_gain: number }).experian_gain)
    expect(gains.slice(0, 2)).toEqual([-12, -5])
  })

  it('closes the lead of a borrower who drops out', async () => {
    const { data } = await run({ scenario: 'dropped_out' })
    const lead = await until(async () => {
      const found = service.sql.selectFrom('leads').select(['closed_at', 'close_reason'])
      const row = await found.where('id', '=', data.lead_id).executeTakeFirst()
      return row?.closed_at ? row : undefined
    })
    expect(lead.close_reason).toBe('withdrew')
    const again = await run({ scenario: 'dropped_out', lead_id: data.lead_id })
    expect(again.status).toBe(409)
  })

  it('stops where a clock can be moved no further', async () => {
    const leadId = await calls.createLead()
    const furthest = MOST_AHEAD_MS / 1000
    await service.sql
      .updateTable('leads')
      .set({ clock_offset: furthest - 100 * 86_400 })
      .where('id', '=', leadId)
      .execute()
    await run({ scenario: 'stalled_before_escrow', lead_id: leadId })
    expect(await endOf(leadId)).toBe('stopped')
    const { clock_offset: offset } = await service.sql
      .selectFrom('leads')
      .select('clock_offset')
      .where('id', '=', leadId)
      .executeTakeFirstOrThrow()
    expect(offset).toBeLessThanOrEqual(furthest)
  })

  const fill = (leadId: number, nextPosition: number) =>
    service.sql.updateTable('leads').set({ next_position: nextPosition }).where('id', '=', leadId).execute()

  it('stops where the lead has as many events as it can', async () => {
    const leadId = await calls.createLead()
    await fill(leadId, MOST_EVENTS)
    await run({ scenario: 'stalled_before_escrow', lead_id: leadId })
    expect(await endOf(leadId)).toBe('stopped')
    expect(await namesOf(leadId)).toEqual(['lead_received', 'client_account_created'])
  })

  it('is not begun with a lead that is full', async () => {
    const leadId = await calls.createLead()
    await fill(leadId, MOST_EVENTS + 1)
    const body = { scenario: 'stalled_before_escrow', lead_id: leadId }
    expect(await calls.post('sandbox/run-scenario', body)).toMatchObject({
      status: 409,
      body: { error: { code: 'LEAD_FULL' } },
    })
    await expect(service.client.workflow.getHandle(scenarioId(leadId)).describe()).rejects.toThrow(
      'not found',
    )
  })

  it.each(['terminate', 'cancel'] as const)(
    'is over, and frees its place, once an operator ends its advance: %s',
    async (end) => {
      const held = Promise.withResolvers<void>()
      partner.endpoint.answer = (_, response) => void held.promise.then(() => response.writeHead(200).end())
      const leadId = await calls.createLead()
      const played = run({ scenario: 'stalled_before_escrow', lead_id: leadId })
      const advance = service.client.workflow.getHandle(advanceId(leadId))
      await until(() => advance.describe().catch(() => undefined))
      await advance[end]()
      const { status, data } = await played
      expect([status, data.state]).toEqual([200, 'closed'])
      expect(await endOf(leadId)).toBe('closed')
      const runs = service.sql.selectFrom('sandbox_runs').select('kind').where('lead_id', '=', leadId)
      expect(await runs.execute()).toEqual([])
      held.resolve()
    },
    30_000,
  )

  it('goes on with a lead that is there', async () => {
    const leadId = await calls.createLead()
    const { data } = await run({ scenario: 'ready_after_two_updates', lead_id: leadId })
    expect(data.lead_id).toBe(leadId)
    expect(await endOf(leadId)).toBe('done')
    expect(await namesOf(leadId)).toContain('mortgage_ready')
    expect(data.webhooks).toBeUndefined()
  })

  it('is played by a lead whose address names it, with create-lead alone', async () => {
    const leadId = await calls.createLead({ email: 'tester+ready_after_two_updates@example.com' })
    const webhooks = webhooksOf('ready_after_two_updates')
    await partner.endpoint.until(() => arrived(leadId).length === webhooks.length)
    expect(arrived(leadId).map(({ event }) => event.type)).toEqual(webhooks)
    await endOf(leadId)
  })

  it('is not played by any other address', async () => {
    const leadId = await calls.createLead({ email: 'tester+ready_after_two_updates@lender.example' })
    await partner.endpoint.until(() => arrived(leadId).length === 1)
    await expect(service.client.workflow.getHandle(scenarioId(leadId)).describe()).rejects.toThrow(
      'not found',
    )
  })

  it('is listed with the webhooks to expect', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/sandbox/scenarios`, {
      headers: { authorization: `Service-Key ${partner.key}` },
    })
    const { data } = (await response.json()) as { data: { scenario: ScenarioName; webhooks: string[] }[] }
    expect(data.map(({ scenario }) => scenario)).toEqual(scenarioNames)
    expect(data.every(({ scenario, webhooks }) => webhooks.join() === webhooksOf(scenario).join())).toBe(true)
  })

  it('is none of another partner’s leads, and none that does not exist', async () => {
    const stranger = await service.addPartner()
    const leadId = await partnerCalls(port, stranger.key).createLead()
    expect((await run({ scenario: 'dropped_out', lead_id: leadId })).status).toBe(404)
    expect((await run({ scenario: 'happy_end' })).status).toBe(400)
    expect((await run({})).status).toBe(400)
  })
})
