import { beforeAll, describe, expect, it } from '@jest/globals'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { scenarioId } from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { referralId, restoreId } from '../../src/core/temporal/names.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { sandboxPartner } from './partner.ts'

/** Far above what a milestone takes on a busy machine, far below what it took behind scenarios that held the places. */
const SOON_MS = 60_000
/** Endpoints that drain, and leads of each whose webhook waits: seconds of waking. */
const DRAINING = 4
const HELD = 80

describe('a worker with few places for activities', () => {
  let service: Service
  let port: number | undefined

  beforeAll(async () => {
    service = await prepareService()
    ;[{ port }] = await Promise.all([
      service.startApi(),
      service.startWorker({ WORKER_ACTIVITIES: '4', WORKER_WORKFLOW_TASKS: '4' }),
    ])
  }, 60_000)

  it('records a lead’s milestones while another partner’s scenarios run', async () => {
    const [flooding, other] = await Promise.all([
      sandboxPartner(service, port),
      sandboxPartner(service, port),
    ])
    const lead = await other.createLead()
    await other.endpoint.until(() => other.arrivals(lead).length === 1)
    const flood = Array.from({ length: 10 }, () =>
      flooding.post('sandbox/run-scenario', { scenario: 'mortgage_ready_in_a_year' }),
    )
    const tagged = Array.from({ length: 10 }, () => flooding.createLead('mortgage_ready_in_a_year'))
    const started = () =>
      service.sql.selectFrom('leads').select('id').where('workflow_started_at', 'is not', null)
    await until(async () => (await started().where('partner_id', '=', flooding.id).execute()).length >= 10)
    const began = performance.now()
    const names = ['client_account_created', 'contract_signed', 'escrow_funded']
    for (const name of names) await service.referrals.signal(lead, name)
    await other.endpoint.until(() => other.arrivals(lead).length === 4)
    expect(performance.now() - began).toBeLessThan(SOON_MS)
    await Promise.all([...flood, ...tagged])
  }, 120_000)
})

describe('a worker with one place for activities', () => {
  let service: Service
  let port: number | undefined

  beforeAll(async () => {
    service = await prepareService()
    ;[{ port }] = await Promise.all([service.startApi(), service.startWorker({ WORKER_ACTIVITIES: '1' })])
  }, 60_000)

  it('plays a scenario to its end', async () => {
    const partner = await sandboxPartner(service, port)
    const { status, data } = await partner.post('sandbox/run-scenario', { scenario: 'chatty_borrower' })
    expect(status).toBe(200)
    const handle = service.client.workflow.getHandle(scenarioId(data.lead_id))
    expect(await handle.result()).toBe('done')
  })

  it('has leads take over a restored record, at the first try', async () => {
    const partner = await sandboxPartner(service, port)
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    const generation = await service.sql.transaction().execute((trx) => raiseGeneration(trx, 'staff'))
    const handle = service.client.workflow.getHandle(restoreId(generation))
    await until(() => handle.describe().catch(() => undefined))
    expect(await handle.result()).toContain('0 of them without an answer')
    const { events } = await handle.fetchHistory()
    const attempts = events?.flatMap((event) => event.activityTaskStartedEventAttributes?.attempt ?? [])
    expect(attempts?.[0]).toBe(1)
  }, 60_000)
})

it('sends a partner’s webhooks while more endpoints drain than a worker has places', async () => {
  const service = await prepareService()
  const other = await service.addPartner()
  const leads = leadsOf(service, other)
  const lead = await leads.start()
  const draining = await Promise.all(Array.from({ length: DRAINING }, () => service.addPartner()))
  const first: number[] = []
  for (const { id } of draining) {
    const [event = ''] = await fillDeliveries(service.sql, id, HELD, 'pending')
    const delivery = service.sql.selectFrom('deliveries').select('lead_id').where('event_id', '=', event)
    first.push((await delivery.executeTakeFirstOrThrow()).lead_id)
    const endpoint = service.sql.updateTable('endpoints').where('partner_id', '=', id)
    await endpoint.set({ state: 'draining', reason: 'resumed', since: new Date() }).execute()
  }
  await service.startWorker({ WORKER_ACTIVITIES: String(DRAINING) })
  for (const leadId of first)
    await until(() =>
      service.client.workflow
        .getHandle(referralId(leadId))
        .describe()
        .catch(() => undefined),
    )
  await service.referrals.signal(lead, 'contract_signed')
  await other.endpoint.until(() => leads.arrivals(lead).length === 2)
  // nobody had to wait until all leads of an endpoint were awake
  for (const { id } of draining) expect(await asleepOf(service, id)).toBeGreaterThan(0)
  await until(async () => draining.every(({ endpoint }) => endpoint.arrivals.length > 0))
}, 120_000)

/** How many leads of a draining endpoint are not woken yet: their schedules are not renewed. */
async function asleepOf({ sql }: Service, partnerId: number): Promise<number> {
  const asleep = sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select('event_id')
    .where('deliveries.partner_id', '=', partnerId)
    .where('deliveries.state', '=', 'pending')
    .whereRef('next_attempt_at', '<', 'since')
  return (await asleep.execute()).length
}
