import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { defaultMix } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { populationId } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import { asMember } from '../../src/capabilities/sandbox/populations/statements/population-leads.ts'
import { requestPopulation } from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import type { WebhookFacts } from '../../src/core/deliveries/decisions/webhook-facts.ts'
import { webhookBody } from '../../src/core/deliveries/webhooks/body.ts'
import { leadIds } from '../../src/core/leads/statements/ids.ts'
import { insertLead } from '../../src/core/leads/statements/new-lead.ts'
import { LEAD } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import {
  byLead,
  expectedOf,
  normalized,
  populationsOf,
  preparePopulations,
  type Scene,
} from './population.ts'

describe('a population', () => {
  let scene: Scene
  let partner: TestPartner
  let populations: ReturnType<typeof populationsOf>

  beforeAll(async () => void (scene = await preparePopulations()), 60_000)
  beforeEach(async () => void ({ partner, populations } = await scene.add()))

  it('is the same with the same seed, byte for byte apart from ids and times', async () => {
    const other = await scene.service.addPartner()
    const body = { seed: 11, size: 4 }
    const others = populationsOf(scene.service, scene.port, other)
    const [one, two] = await Promise.all([populations.run(body), others.run(body)])
    await Promise.all([populations.ended(one), others.ended(two)])
    const journeys = ({ endpoint }: TestPartner) =>
      byLead(endpoint.arrivals).map((lead) => lead.map(normalized))
    expect(journeys(partner)).toHaveLength(body.size)
    expect(journeys(other)).toEqual(journeys(partner))
  }, 120_000)

  it('ends when an operator cancels its workflow, who reads there how far it is', async () => {
    const id = await populations.run({ size: 1000, mix: { steady_climb: 1 } })
    const handle = scene.service.client.workflow.getHandle(populationId(id))
    await until(async () => (await populations.read(id)).progress.webhooks > 0)
    // there after the first batch
    await until(async () => {
      const described = await handle.query('__temporal_workflow_metadata').catch(() => undefined)
      return /Leads: \*\*\d+\*\* of 1000/.test(JSON.stringify(described))
    })
    await handle.cancel()
    const { status } = await populations.ended(id)
    expect([status, (await handle.describe()).status.name]).toEqual(['canceled', 'CANCELLED'])
  }, 60_000)

  it('stops when its endpoint refuses everything', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end()
    const id = await populations.run({ size: 100, mix: { stalled: 1 } })
    const { status, report } = await populations.ended(id)
    expect(status).toBe('stopped')
    expect(report!.leads.refused).toBeGreaterThanOrEqual(3)
    const { count, webhooks } = report!.never_accepted
    expect(webhooks).toHaveLength(Math.min(count, 20))
    expect(webhooks[0]).toMatchObject({
      event_name: 'lead_received',
      sequence: 1,
      state: 'pending',
      status: 500,
    })
  }, 120_000)

  it('stops once its endpoint is paused, and is refused from then on', async () => {
    partner.endpoint.answer = (_, response) => {
      response.writeHead(partner.endpoint.arrivals.length > 10 ? 410 : 200).end()
    }
    const body = { size: 100, mix: { steady_climb: 1 } }
    const { status, report } = await populations.ended(await populations.run(body))
    expect([status, report!.webhooks.accepted]).toEqual(['stopped', 10])
    expect(await populations.call('run-population', body)).toMatchObject({
      status: 409,
      error: { code: 'ENDPOINT_PAUSED' },
    })
  }, 60_000)

  it('stops, however small, once its endpoint is paused', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(410).end()
    const body = { size: 1, mix: { stalled: 1 } }
    const { status, report } = await populations.ended(await populations.run(body))
    expect([status, report!.webhooks.accepted, report!.leads.unfinished]).toEqual(['stopped', 0, 1])
  }, 60_000)

  it('has told of each closing, and sent what was refused before it, once it is done', async () => {
    const seen = new Set<string>()
    partner.endpoint.answer = ({ id }, response) => {
      response.writeHead(seen.has(id) ? 200 : 503).end()
      seen.add(id)
    }
    await partnerCalls(scene.port, partner.key).post('set-endpoint', { notify: ['lead.closed'] })
    const body = { seed: 4, size: 4, mix: { closed: 1 } }
    const { status, report } = await populations.ended(await populations.run(body))
    expect([status, report!.never_accepted.count]).toEqual(['done', 0])
    const lasts = byLead(partner.endpoint.arrivals).map((lead) => lead.at(-1)?.event.type)
    expect(lasts).toEqual(Array.from({ length: 4 }, () => 'lead.closed'))
  }, 60_000)

  it('has the sink refuse as often as it is told, and nothing is lost', async () => {
    expect((await populations.call('use-sink', {})).status).toBe(200)
    const faults = { one_in: 3, status: 502 }
    const drawn = { seed: 2, size: 3, mix: { steep_climb: 1 } }
    const { report } = await populations.ended(await populations.run({ ...drawn, faults }))
    const { accepted, attempts, refused } = report!.webhooks
    expect([accepted, attempts]).toEqual([expectedOf(drawn).flat().length, accepted + refused])
    expect(refused).toBeGreaterThan(0)
    expect(report!.never_accepted.count).toBe(0)
    const sink = (await populations.call('get-sink', {})).data as unknown as {
      webhooks: { status: number }[]
    }
    expect(sink.webhooks.filter(({ status }) => status === 502)).toHaveLength(refused)
  }, 60_000)

  it('is played though its start was lost', async () => {
    const lost = { partnerId: partner.id, size: 2, seed: 1, mix: defaultMix, faults: null }
    const { id } = await requestPopulation(scene.service.sql, { ...lost, requestId: randomUUID() })
    expect((await populations.ended(id)).status).toBe('done')
  }, 60_000)

  it('begins a lead whose insert was lost while that of a later one was committed', async () => {
    const lost = { partnerId: partner.id, size: 3, seed: 1, mix: defaultMix, faults: null }
    const id = await scene.service.sql.transaction().execute(async (trx) => {
      const requested = await requestPopulation(trx, { ...lost, requestId: randomUUID() })
      const later = { populationId: requested.id, number: 2, kind: 'steep_climb' as const }
      const keys = { sql: trx, encryptionKeys: scene.service.encryptionKeys }
      const toBody = (facts: WebhookFacts) => webhookBody({ ...facts, environment: 'sandbox' })
      const reserved = await leadIds(scene.service.sql)()
      await insertLead(keys, reserved, partner.id, LEAD, toBody, { also: asMember(later) })
      return requested.id
    })
    const { status, report } = await populations.ended(id)
    expect([status, report!.leads]).toMatchObject(['done', { unfinished: 0 }])
    expect((await scene.leadsOf(id)).map(({ number }) => number)).toEqual([1, 2, 3])
  }, 60_000)
})
