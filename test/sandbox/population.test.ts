import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { defaultMix } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { findPopulation } from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import { clearEndpoint } from '../../src/core/endpoints/statements/clear.ts'
import { holdRow } from '../support/row-lock.ts'
import type { TestPartner } from '../support/service.ts'
import { byLead, expectedOf, populationsOf, preparePopulations, type Scene } from './population.ts'

const ONE_IN = 10
/** It has each kind of journey. */
const ALL_KINDS = { seed: 1208, size: 12, mix: { ...defaultMix, erased: 6, steady_climb: 6 } }

describe('a population', () => {
  let scene: Scene
  let partner: TestPartner
  let populations: ReturnType<typeof populationsOf>

  beforeAll(async () => void (scene = await preparePopulations()), 60_000)
  beforeEach(async () => void ({ partner, populations } = await scene.add()))

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
    const leads = await scene.leadsOf(id)
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

  it('ends when its partner cancels it, and its leads stay', async () => {
    const id = await populations.run({ size: 1000, mix: { steady_climb: 1 } })
    const { status: second } = await populations.call('run-population', { size: 1 })
    expect(second).toBe(429)
    await partner.endpoint.until((arrivals) => arrivals.length >= 20)
    const { data } = await populations.call('cancel-population', { population_id: id })
    expect(data.status).toBe('canceling')
    const { status, report } = await populations.ended(id)
    const leads = await scene.leadsOf(id)
    expect([status, report!.leads.played! + report!.leads.unfinished!]).toEqual(['canceled', leads.length])
    expect(leads.length).toBeLessThan(1000)
    const again = await populations.call('cancel-population', { population_id: id })
    expect([again.status, again.data]).toEqual([200, await populations.read(id)])
    expect((await populations.call('run-population', { size: 1 })).status).toBe(200)
  }, 60_000)

  it('is one, however often its request is repeated with the same Idempotency-Key', async () => {
    const send = async (size: number) => {
      const response = await fetch(`http://127.0.0.1:${scene.port}/v1/sandbox/run-population`, {
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
    const resetting = await holdRow(scene.service.sql, 'partners', `id = ${partner.id}`)
    const asked = populations.call('run-population', { size: 1 })
    await resetting.reached()
    await resetting.release((trx) => clearEndpoint(trx, partner.id))
    expect(await asked).toMatchObject({ status: 409, error: { code: 'NO_ENDPOINT' } })
    expect(await findPopulation(scene.service.sql, partner.id)).toBeUndefined()
  })

  it('is of no other partner, and says what is wrong with a request', async () => {
    const stranger = populationsOf(scene.service, scene.port, await scene.service.addPartner())
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
