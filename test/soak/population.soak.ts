import { beforeAll, describe, expect, it } from '@jest/globals'
import { defaultMix } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { byLead, expectedOf, populationsOf } from '../sandbox/population.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const SIZE = Number(process.env.SOAK_POPULATION ?? 1000)
const DRAWN = { seed: 1, size: SIZE, mix: { steady_climb: 1 } }
/** All kinds but the erased: whether an erased borrower's last webhook was sent is a race. */
const ALL_KINDS = { seed: 2, size: SIZE, mix: { ...defaultMix, erased: 0 } }
/** One answer of so many is refused, and the worker and the API are killed each time so many leads are over. */
const REFUSED_ONE_IN = 20
const KILLS = 4
const HOUR_MS = 3_600_000

describe(`a population of ${SIZE} leads over a year`, () => {
  let service: Service
  let partner: TestPartner
  let api: ServiceProcess
  let worker: ServiceProcess

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  }, 60_000)

  it(
    'sends fourteen webhooks of each, in their order',
    async () => {
      const populations = populationsOf(service, api.port, partner)
      const { status, report } = await populations.ended(await populations.run(DRAWN))
      const expected = expectedOf(DRAWN)
      expect([status, report!.webhooks.accepted]).toEqual(['done', expected.flat().length])
      const webhooks = byLead(partner.endpoint.arrivals)
      expect(webhooks.map((lead) => lead.map(({ event }) => event.type))).toEqual(expected)
      const { accepted } = report!.webhooks
      process.stdout.write(
        `${SIZE} leads and ${accepted} webhooks in ${report!.seconds} s (${(accepted / report!.seconds).toFixed(0)}/s)\n`,
      )
    },
    HOUR_MS,
  )

  it(
    `loses nothing with one answer in ${REFUSED_ONE_IN} refused, while the worker and the API are killed`,
    async () => {
      const other = await service.addPartner()
      let answered = 0
      other.endpoint.answer = (_arrival, response) => {
        answered += 1
        response.writeHead(answered % REFUSED_ONE_IN === 0 ? 503 : 200).end()
      }
      const id = await populationsOf(service, api.port, other).run(ALL_KINDS)
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await other.endpoint.until(({ length }) => length > (kill * SIZE * 8) / (KILLS + 1))
        await Promise.all([api.kill(), worker.kill()])
        ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
      }
      const populations = populationsOf(service, api.port, other)
      const { status, report } = await populations.ended(id)
      const expected = expectedOf(ALL_KINDS)
      expect([status, report!.never_accepted.count, report!.webhooks.accepted]).toEqual([
        'done',
        0,
        expected.flat().length,
      ])
      expect(report!.webhooks.refused).toBeGreaterThanOrEqual(Math.floor(expected.flat().length / 25))
      const webhooks = byLead(other.endpoint.arrivals)
      expect(webhooks.map((lead) => lead.map(({ event }) => event.type))).toEqual(expected)
      for (const lead of webhooks)
        expect(lead.map(({ event }) => event.data.sequence)).toEqual(lead.map((_each, index) => index + 1))
    },
    HOUR_MS,
  )
})
