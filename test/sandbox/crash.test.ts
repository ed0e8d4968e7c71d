import { expect, it } from '@jest/globals'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { sandboxPartner } from './partner.ts'

it('a clock goes on when its worker is killed on the way, and nothing happens twice', async () => {
  const service = await prepareService()
  const [{ port }, worker] = await Promise.all([service.startApi(), service.startWorker()])
  const partner = await sandboxPartner(service, port)
  const lead = await partner.createLead()
  await partner.simulate(lead, { event_name: 'escrow_funded' })
  const advancing = partner.advance(lead, { days: 365 })
  await partner.endpoint.until(() => partner.arrivals(lead).length === 5)
  await worker.kill()
  await service.startWorker()
  const { data } = await advancing
  expect(['advancing', 'score_update']).toContain(data.status)
  await until(async () => !(await partner.clock(lead)).data.moving)
  const events = await service.sql
    .selectFrom('lead_events')
    .select(['position', 'event_name', 'created_at'])
    .where('lead_id', '=', lead)
    .orderBy('position')
    .execute()
  expect(events.map(({ position }) => position)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1))
  const scores = events.filter((event) => event.event_name === 'score_update')
  const days = scores.map(
    (event) => (event.created_at.getTime() - scores[0]!.created_at.getTime()) / 86_400_000,
  )
  expect(days.map(Math.round)).toEqual([0, 45, 90, 135, 180, 225, 270, 315])
  await partner.endpoint.until(() => partner.arrivals(lead).some(({ data: { sequence } }) => sequence === 10))
  const sequences = partner.arrivals(lead).map((event) => event.data.sequence)
  expect(sequences).toEqual(sequences.toSorted((one, other) => one - other))
  // the request that the kill cut off may have arrived
  expect(sequences.length).toBeLessThanOrEqual(11)
  expect(new Set(sequences).size).toBe(10)
}, 150_000)
