import { expect, it } from '@jest/globals'
import { MOST_RUNS } from '../../src/capabilities/sandbox/decisions/sandbox-runs.ts'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const PARTNERS = 2
const PLACES = 4
const DAYS = 90

interface Lead {
  of: SandboxPartner
  lead: number
}

/** Moves a clock so far and waits for it. After a 503 an advance may have begun or not: the clock tells. */
const advanced = ({ of, lead }: Lead) =>
  until(async () => {
    const { status, data } = await of.clock(lead)
    if (status !== 200 || data.moving) return false
    const days = DAYS - Math.round(data.offset_seconds / 86_400)
    if (days === 0) return true
    expect([200, 409, 503]).toContain((await of.advance(lead, { days })).status)
    return false
  })

it('many clocks move at once, however few activities a worker has, and one endpoint that hangs stops no other', async () => {
  const service = await prepareService()
  const settings = { WORKER_ACTIVITIES: String(PLACES), WORKER_WORKFLOW_TASKS: '4' }
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker(settings)])
  const addPartner = () => sandboxPartner(service, port)
  const [hanging, ...partners] = await Promise.all([
    addPartner(),
    ...Array.from({ length: PARTNERS }, addPartner),
  ])
  const funded = async (of: SandboxPartner) => {
    const lead = await of.createLead()
    expect((await of.simulate(lead, { event_name: 'escrow_funded' })).status).toBe(200)
    await of.endpoint.until(() => of.arrivals(lead).length === 2)
    return lead
  }
  // one after the other: an API that is asked for all at once on a busy machine answers some with 503
  const many = async (of: SandboxPartner, length: number) => {
    const leads: Lead[] = []
    while (leads.length < length) leads.push({ of, lead: await funded(of) })
    return leads
  }
  // each request that hangs has a place
  const stuck = await many(hanging, PLACES - 1)
  const leads = (await Promise.all(partners.map((of) => many(of, MOST_RUNS.advance)))).flat()
  const answer = Promise.withResolvers<void>()
  hanging.endpoint.answer = (_, response) => void answer.promise.then(() => response.writeHead(200).end())
  const ofStuck = Promise.all(stuck.map(({ of, lead }) => of.advance(lead, { days: 45 })))
  await Promise.all(leads.map(advanced))
  for (const { of, lead } of leads)
    expect(of.arrivals(lead).map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4])
  answer.resolve()
  await ofStuck
}, 120_000)
