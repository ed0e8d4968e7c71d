import { beforeAll, expect, it } from '@jest/globals'
import type { Mix } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { byLead, expectedOf, normalized, populationsOf } from './population.ts'

interface Killed {
  drawn: { seed: number; size: number; mix: Mix }
  /** How many webhooks have arrived when worker and API are killed. */
  killedAfter: number
}

/**
 * What holds for a population of any size.
 *
 * @returns the service, once it runs.
 */
export function goesOnAfterKill({ drawn, killedAfter }: Killed): () => Service {
  let service: Service
  let partner: TestPartner

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
  }, 60_000)

  it('goes on, and nothing is missing or out of order', async () => {
    const [api, worker] = await Promise.all([service.startApi(), service.startWorker()])
    const id = await populationsOf(service, api.port, partner).run(drawn)
    await partner.endpoint.until(({ length }) => length >= killedAfter)
    await Promise.all([api.kill(), worker.kill()])
    expect(await leadsOf(id)).toBeLessThan(drawn.size)
    const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
    const { status, report } = await populationsOf(service, port, partner).ended(id)
    expect([status, report!.webhooks.accepted, report!.never_accepted.count]).toEqual([
      'done',
      expectedOf(drawn).flat().length,
      0,
    ])
    expect(await leadsOf(id)).toBe(drawn.size)
    // the requests that the kill cut off may have come twice
    const webhooks = byLead(partner.endpoint.arrivals)
    expect(webhooks.map((lead) => lead.map(({ event }) => event.type))).toEqual(expectedOf(drawn))
    for (const lead of webhooks)
      expect(lead.map(({ event }) => event.data.sequence)).toEqual(lead.map((_, index) => index + 1))
    // no lead was created twice, and no step was skipped
    const leads = await partnerCalls(port, partner.key).post('list-leads', {})
    expect(JSON.stringify(leads.body).match(/"lead_id"/g)).toHaveLength(drawn.size)
    expect(new Set(webhooks.map((lead) => normalized(lead[0]!))).size).toBe(drawn.size)
  }, 150_000)

  async function leadsOf(id: number): Promise<number> {
    const leads = service.sql.selectFrom('population_leads').select('lead_id')
    return (await leads.where('population_id', '=', id).execute()).length
  }

  return () => service
}
