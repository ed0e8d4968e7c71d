import { beforeAll, describe, expect, it } from '@jest/globals'
import { advanceId } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import type { CheckReport } from '../../src/capabilities/self-service/decisions/certification.ts'
import { scenarioId, webhooksOf } from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const SCENARIO = 'mortgage_ready_in_a_year'

/** One worker is killed once, in the middle of a scenario, a certification and an advance of a clock. */
describe('where the worker is killed in the middle', () => {
  let service: Service
  let port: number | undefined
  let player: TestPartner
  let played: number
  let certified: SandboxPartner
  let candidate: PartnerEndpoint
  let traveler: SandboxPartner
  let lead: number
  let advancing: ReturnType<SandboxPartner['advance']>

  beforeAll(async () => {
    service = await prepareService()
    const [api, worker] = await Promise.all([service.startApi(), service.startWorker()])
    ;({ port } = api)
    // all at once: their requests end after 15 seconds
    await Promise.all([beginScenario(), beginCertification(), beginAdvance()])
    await worker.kill()
    player.endpoint.answer = (_, response) => void response.writeHead(200).end()
    candidate.answer = ({ verified }, response) => void response.writeHead(verified ? 200 : 400).end()
    traveler.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await service.startWorker()
  }, 90_000)

  /** Resolves when the fifth webhook is on its way. */
  async function beginScenario() {
    player = await service.addPartner()
    player.endpoint.answer = (_, response) => {
      if (player.endpoint.arrivals.length < 5) response.writeHead(200).end()
    }
    const { createLead } = partnerCalls(port, player.key)
    played = await createLead({ email: `tester+${SCENARIO}@example.com` })
    await player.endpoint.until((arrivals) => arrivals.length === 5)
  }

  /** Resolves when the third request is on its way. */
  async function beginCertification() {
    certified = await sandboxPartner(service, port)
    candidate = await startPartnerEndpoint()
    candidate.answer = (_, response) => {
      if (candidate.arrivals.length < 3) response.writeHead(200).end()
    }
    const { data } = await certified.post('set-endpoint', { url: candidate.url })
    candidate.secret = (data as unknown as { secret: string }).secret
    await certified.post('certify-endpoint', {})
    await candidate.until((arrivals) => arrivals.length === 3)
  }

  /** Resolves when the fifth webhook is on its way. */
  async function beginAdvance() {
    traveler = await sandboxPartner(service, port)
    traveler.endpoint.answer = (_, response) => {
      if (traveler.endpoint.arrivals.length < 5) response.writeHead(200).end()
    }
    lead = await traveler.createLead()
    await traveler.simulate(lead, { event_name: 'escrow_funded' })
    advancing = traveler.advance(lead, { days: 365 })
    await traveler.endpoint.until(() => traveler.arrivals(lead).length === 5)
  }

  const historyOf = (leadId: number) =>
    service.sql
      .selectFrom('lead_events')
      .select(['position', 'event_name', 'created_at'])
      .where('lead_id', '=', leadId)
      .orderBy('position')
      .execute()

  it('a clock goes on, and nothing happens twice', async () => {
    const { data } = await advancing
    expect(['advancing', 'score_update']).toContain(data.status)
    await service.client.workflow.getHandle(advanceId(lead)).result()
    await until(async () => !(await traveler.clock(lead)).data.moving)
    const events = await historyOf(lead)
    expect(events.map(({ position }) => position)).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    )
    const scores = events.filter((event) => event.event_name === 'score_update')
    const days = scores.map(
      (event) => (event.created_at.getTime() - scores[0]!.created_at.getTime()) / 86_400_000,
    )
    expect(days.map(Math.round)).toEqual([0, 45, 90, 135, 180, 225, 270, 315])
    await traveler.endpoint.until(() =>
      traveler.arrivals(lead).some(({ data: { sequence } }) => sequence === 10),
    )
    const sequences = traveler.arrivals(lead).map((event) => event.data.sequence)
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other))
    // the request that the kill cut off may have arrived
    expect(sequences.length).toBeLessThanOrEqual(11)
    expect(new Set(sequences).size).toBe(10)
  }, 150_000)

  it('a scenario goes on to its end, each webhook once and in order', async () => {
    expect(await service.client.workflow.getHandle(scenarioId(played)).result()).toBe('done')
    await player.endpoint.until((arrivals) => arrivals.at(-1)?.event.type === 'mortgage_ready')
    const taken = [...new Map(player.endpoint.arrivals.map(({ id, event }) => [id, event.type])).values()]
    expect(taken).toEqual(webhooksOf(SCENARIO))
    expect((await historyOf(played)).map(({ event_name: name }) => name)).toEqual(webhooksOf(SCENARIO))
  }, 120_000)

  it('a certification goes on, and repeats only the request that was on its way', async () => {
    const report = await until(async () => {
      const { data } = await certified.post('get-endpoint', {})
      const { certification } = data as unknown as {
        certification: { state: string; checks: CheckReport[] }
      }
      return certification.state !== 'running' && certification
    })
    expect(report.state).toBe('passed')
    expect(report.checks.filter(({ result }) => result !== 'passed')).toEqual([])
    expect(candidate.arrivals.map(({ verified }) => verified)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ])
    expect(candidate.arrivals[2]?.id).toBe(candidate.arrivals[3]?.id)
  }, 60_000)
})
