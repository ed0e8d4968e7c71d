import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { ReferralView } from '../../workflows/messages.ts'
import { reconcile } from '../../src/core/leads/workflows/reconcile.ts'
import { forEachInFlight } from '../../src/core/temporal/in-flight.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService } from '../support/service.ts'
import { type Fixture, fixtureOf } from '../workflows/scenes.ts'

const SIGNALS = 25_000
/** A run goes on in the next soon after 2,000 messages; past 10,000 the server would refuse them. */
const RUNS_AT_LEAST = 5
const LEADS = 1000

/** `npm run soak`: the big numbers, which take minutes. */
describe('the workflows, in numbers', () => {
  let temporal: Awaited<ReturnType<typeof ownTemporal>>
  let fixture: Fixture
  let worker: ServiceProcess

  beforeAll(async () => {
    temporal = await ownTemporal()
    const service = await prepareService({ TEMPORAL_ADDRESS: temporal.address })
    const [partner, started] = await Promise.all([service.addPartner(), service.startWorker()])
    worker = started
    fixture = fixtureOf(service, partner)
  }, 60_000)

  const waitFor = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 500))
  }
  const client = () => fixture.service.client
  /** Empty, but for the namespace that the operator sets up again. */
  async function loseTemporal() {
    await worker.stop()
    await temporal.kill()
    temporal.erase()
    await temporal.start()
    const setup = path.join(import.meta.dirname, '../../src/setup-temporal.ts')
    await promisify(execFile)(process.execPath, [setup], { env: fixture.service.environment })
  }

  it(`account for ${SIGNALS} signals to one lead`, async () => {
    const leadId = await fixture.leads.start()
    const handle = client().workflow.getHandle(`lead-${leadId}`)
    await forEachInFlight(Array.from({ length: SIGNALS }), () => handle.signal('client_engaged_in_chat'))
    await waitFor(async () => {
      const { signals, waiting } = await handle.query<ReferralView>('state')
      return signals.recorded === SIGNALS && waiting === 0
    })
    const { signals } = await handle.query<ReferralView>('state')
    expect(signals).toEqual({
      received: SIGNALS,
      recorded: SIGNALS,
      repeated: 0,
      refused: 0,
      notUnderstood: 0,
    })
    expect(await fixture.leads.names(leadId)).toHaveLength(SIGNALS + 1)
    const continued = `WorkflowId = 'lead-${leadId}' AND ExecutionStatus = 'ContinuedAsNew'`
    const { count } = await client().workflow.count(continued)
    expect(count).toBeGreaterThanOrEqual(RUNS_AT_LEAST - 1)
  }, 900_000)

  it(`rebuild ${LEADS} leads once Temporal has lost everything, and repeat no webhook`, async () => {
    const ids: number[] = []
    const create = async () => {
      ids.push(await fixture.leads.start())
    }
    await forEachInFlight(Array.from({ length: LEADS }), create)
    await waitFor(async () => ids.every((id) => fixture.leads.arrivals(id).length > 0))
    const openDeliveries = () =>
      fixture.service.sql.selectFrom('deliveries').select('event_id').where('state', '=', 'pending').execute()
    await waitFor(async () => (await openDeliveries()).length === 0)
    await loseTemporal()
    expect((await client().workflow.count()).count).toBe(0)

    const all = await fixture.service.sql.selectFrom('leads').select('id').orderBy('id').execute()
    const { started } = await reconcile(fixture.service)
    expect(started.toSorted((a, b) => a - b)).toEqual(all.map(({ id }) => id))
    await fixture.service.startWorker()
    await forEachInFlight(ids, (id) => fixture.send(id, 'contract_signed'))
    await waitFor(async () => ids.every((id) => fixture.leads.arrivals(id).length > 1))
    for (const id of ids)
      expect(fixture.leads.arrivals(id).map(({ event }) => event.data.sequence)).toEqual([1, 2])
  }, 900_000)
})
