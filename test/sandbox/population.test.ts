import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { defaultMix } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { populationId } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import { asMember } from '../../src/capabilities/sandbox/populations/statements/population-leads.ts'
import {
  findPopulation,
  requestPopulation,
} from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import type { WebhookFacts } from '../../src/core/deliveries/decisions/webhook-facts.ts'
import { webhookBody } from '../../src/core/deliveries/webhooks/body.ts'
import { clearEndpoint } from '../../src/core/endpoints/statements/clear.ts'
import { leadIds } from '../../src/core/leads/statements/ids.ts'
import { insertLead } from '../../src/core/leads/statements/new-lead.ts'
import { LEAD } from '../support/leads.ts'
import { holdRow } from '../support/row-lock.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { byLead, expectedOf, normalized, populationsOf } from './population.ts'

const ONE_IN = 10
/** It has each kind of journey. */
const ALL_KINDS = { seed: 1208, size: 12, mix: { ...defaultMix, erased: 6, steady_climb: 6 } }

describe('a population', () => {
  let service: Service
  let port: number | undefined
  let partner: TestPartner
  let populations: ReturnType<typeof populationsOf>

  beforeAll(async () => {
    // of its own: beside partners that get webhooks, a population slows down
    service = await prepareService()
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    ;({ port } = api)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    populations = populationsOf(service, port, partner)
  })

  const leadsOf = (id: number) =>
    service.sql
      .selectFrom('population_leads')
      .innerJoin('leads', 'leads.id', 'population_leads.lead_id')
      .select(['number', 'kind', 'outcome', 'closed_at', 'erased_at'])
      .where('population_id', '=', id)
      .orderBy('number')
      .execute()

  it('sends each webhook of its journeys, each lead’s in order, while one in ten is refused', async () => {
    let refused = 0
    partner.endpoint.answer = ({ id }, response) => {
      const { arrivals } = partner.endpoint
      const isFirst = arrivals.filter((each) => each.id === id).length === 1
      const refuses = isFirst && arrivals.length % ONE_IN === 0
      refused += Number(refuses)
      response.writeHead(refuses ? 503 : 200).end()
    }
    const id = await populations.run(ALL_KINDS)
    const { status, report, progress } = await populations.ended(id)
    expect(status).toBe('done')
    const expected = expectedOf(ALL_KINDS)
    const webhooks = byLead(partner.endpoint.arrivals)
    expect(webhooks.map((lead) => lead.map(({ event }) => event.type))).toEqual(expected)
    for (const lead of webhooks) {
      expect(lead.map(({ event }) => event.data.sequence)).toEqual(lead.map((_, index) => index + 1))
      expect(lead.every(({ verified }) => verified)).toBe(true)
    }
    const leads = await leadsOf(id)
    const numbersOf = (those: typeof leads) => those.map(({ number }) => number)
    const ofKind = (kind: string) => numbersOf(leads.filter((lead) => lead.kind === kind))
    expect(numbersOf(leads.filter((lead) => lead.erased_at !== null))).toEqual(ofKind('erased'))
    expect(numbersOf(leads.filter((lead) => lead.closed_at !== null))).toEqual(
      expect.arrayContaining(ofKind('closed')),
    )
    const total = expected.flat().length
    expect(progress).toMatchObject({ done: ALL_KINDS.size, of: ALL_KINDS.size, webhooks: total, late: 0 })
    expect(refused).toBeGreaterThan(5)
    expect(report).toMatchObject({
      webhooks: { accepted: total, attempts: total + refused, refused, repeated: refused },
      never_accepted: { count: 0, webhooks: [] },
    })
    expect(Object.values(report!.kinds).every((count) => count > 0)).toBe(true)
    expect(report!.slowest).toHaveLength(10)
    const count = (outcome: string) => leads.filter((lead) => lead.outcome === outcome).length
    expect(report!.leads).toEqual({
      played: count('played'),
      closed: count('closed'),
      erased: count('erased'),
      refused: 0,
      unfinished: 0,
    })
  }, 180_000)

  it('is the same with the same seed, byte for byte apart from ids and times', async () => {
    const other = await service.addPartner()
    const body = { seed: 11, size: 4 }
    const others = populationsOf(service, port, other)
    const [one, two] = await Promise.all([populations.run(body), others.run(body)])
    await Promise.all([populations.ended(one), others.ended(two)])
    const journeys = ({ endpoint }: TestPartner) =>
      byLead(endpoint.arrivals).map((lead) => lead.map(normalized))
    expect(journeys(partner)).toHaveLength(body.size)
    expect(journeys(other)).toEqual(journeys(partner))
  }, 120_000)

  it('ends when its partner cancels it, and its leads stay', async () => {
    const id = await populations.run({ size: 1000, mix: { steady_climb: 1 } })
    const { status: second } = await populations.call('run-population', { size: 1 })
    expect(second).toBe(429)
    await partner.endpoint.until((arrivals) => arrivals.length >= 20)
    const { data } = await populations.call('cancel-population', { population_id: id })
    expect(data.status).toBe('canceling')
    const { status, report } = await populations.ended(id)
    const leads = await leadsOf(id)
    expect([status, report!.leads.played! + report!.leads.unfinished!]).toEqual(['canceled', leads.length])
    expect(leads.length).toBeLessThan(1000)
    const again = await populations.call('cancel-population', { population_id: id })
    expect([again.status, again.data]).toEqual([200, await populations.read(id)])
    expect((await populations.call('run-population', { size: 1 })).status).toBe(200)
  }, 60_000)

  it('ends when an operator cancels its workflow, who reads there how far it is', async () => {
    const id = await populations.run({ size: 1000, mix: { steady_climb: 1 } })
    const handle = service.client.workflow.getHandle(populationId(id))
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
    await partnerCalls(port, partner.key).post('set-endpoint', { notify: ['lead.closed'] })
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

  it('is one, however often its request is repeated with the same Idempotency-Key', async () => {
    const send = async (size: number) => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/sandbox/run-population`, {
        method: 'POST',
        headers: {
          authorization: `Service-Key ${partner.key}`,
          'content-type': 'application/json',
          'idempotency-key': 'P-1',
        },
        body: JSON.stringify({ size }),
      })
      return { status: response.status, text: await response.text() }
    }
    const answers = await Promise.all([send(2), send(2), send(2)])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await send(3)).status).toBe(422)
    const { population_id: id, seed } = await populations.read()
    await populations.ended(id)
    expect(JSON.parse((await send(2)).text)).toMatchObject({ data: { population_id: id, seed } })
  }, 60_000)

  it('is refused if its partner’s endpoint is cleared while the request waits for a reset', async () => {
    const resetting = await holdRow(service.sql, 'partners', `id = ${partner.id}`)
    const asked = populations.call('run-population', { size: 1 })
    await resetting.reached()
    await resetting.release((trx) => clearEndpoint(trx, partner.id))
    expect(await asked).toMatchObject({ status: 409, error: { code: 'NO_ENDPOINT' } })
    expect(await findPopulation(service.sql, partner.id)).toBeUndefined()
  })

  it('is played though its start was lost', async () => {
    const lost = { partnerId: partner.id, size: 2, seed: 1, mix: defaultMix, faults: null }
    const { id } = await requestPopulation(service.sql, { ...lost, requestId: randomUUID() })
    expect((await populations.ended(id)).status).toBe('done')
  }, 60_000)

  it('begins a lead whose insert was lost while that of a later one was committed', async () => {
    const lost = { partnerId: partner.id, size: 3, seed: 1, mix: defaultMix, faults: null }
    const id = await service.sql.transaction().execute(async (trx) => {
      const requested = await requestPopulation(trx, { ...lost, requestId: randomUUID() })
      const later = { populationId: requested.id, number: 2, kind: 'steep_climb' as const }
      const keys = { sql: trx, encryptionKeys: service.encryptionKeys }
      const toBody = (facts: WebhookFacts) => webhookBody({ ...facts, environment: 'sandbox' })
      const reserved = await leadIds(service.sql)()
      await insertLead(keys, reserved, partner.id, LEAD, toBody, { also: asMember(later) })
      return requested.id
    })
    const { status, report } = await populations.ended(id)
    expect([status, report!.leads]).toMatchObject(['done', { unfinished: 0 }])
    expect((await leadsOf(id)).map(({ number }) => number)).toEqual([1, 2, 3])
  }, 60_000)

  it('is of no other partner, and says what is wrong with a request', async () => {
    const stranger = populationsOf(service, port, await service.addPartner())
    const id = await populations.run({ size: 1 })
    for (const path of ['get-population', 'cancel-population'])
      expect((await stranger.call(path, { population_id: id })).status).toBe(404)
    expect(await stranger.call('get-population', {})).toMatchObject({ status: 200, data: null })
    const wrong: [object, string][] = [
      [{}, 'size'],
      [{ size: 1001 }, 'size must be at most 1000'],
      [{ size: 1, mix: { steady_clim: 1 } }, 'steady_clim is not a field (did you mean steady_climb?)'],
      [{ size: 1, mix: { nobody: 1 } }, journeyNames],
      [{ size: 1, mix: { stalled: 0 } }, 'must have a kind with a weight above 0'],
      [{ size: 1, seed: -1 }, 'seed must be at least 0'],
      [{ size: 1, faults: { one_in: 20 } }, 'faults needs the sink'],
      [{ size: 1, faults: { one_in: 20, status: 410 } }, 'must not be 410, which pauses your endpoint'],
    ]
    for (const [body, problem] of wrong) {
      const { status, error } = await stranger.call('run-population', body)
      expect([body, status]).toEqual([body, 400])
      expect(error?.message).toContain(problem)
    }
    await populations.ended(id)
  }, 60_000)
})

const journeyNames = 'use steady_climb, steep_climb, slow_climb, stalled, closed, chatty, late_milestones'
