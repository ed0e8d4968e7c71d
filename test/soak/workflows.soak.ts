import { beforeAll, describe, expect, it } from '@jest/globals'
import type { ReferralView } from '../../workflows/messages.ts'
import { reconcile } from '../../src/temporal/reconcile.ts'
import { forEachInFlight } from '../../src/temporal/in-flight.ts'
import { prepareService } from '../support/service.ts'
import { type Stage, stageOf } from '../workflows/scenes.ts'

const SIGNALS = 25_000
const LEADS = 1000

/** `npm run soak`: the big numbers, which take minutes. */
describe('the workflows, in numbers', () => {
  let stage: Stage

  beforeAll(async () => {
    const service = await prepareService()
    const [partner] = await Promise.all([service.addPartner(), service.startWorker()])
    stage = stageOf(service, partner)
  }, 60_000)

  const waitFor = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 500))
  }

  it(`account for ${SIGNALS} signals to one lead`, async () => {
    const leadId = await stage.leads.start()
    const handle = stage.service.client.workflow.getHandle(`lead-${leadId}`)
    const first = await handle.describe()
    const chat = () => handle.signal('client_engaged_in_chat')
    await forEachInFlight(Array.from({ length: SIGNALS }), chat)
    await waitFor(async () => {
      const { signals, waiting } = await handle.query<ReferralView>('state')
      return signals.recorded === SIGNALS && waiting === 0
    })
    expect(await stage.leads.names(leadId)).toHaveLength(SIGNALS + 1)
    expect((await handle.describe()).runId).not.toBe(first.runId)
  }, 900_000)

  it(`rebuild ${LEADS} leads after every workflow is gone, and repeat no webhook`, async () => {
    const { client } = stage.service
    const ids: number[] = []
    const create = async () => {
      ids.push(await stage.leads.start())
    }
    await forEachInFlight(Array.from({ length: LEADS }), create)
    await waitFor(async () => ids.every((id) => stage.leads.arrivals(id).length > 0))
    const running = async () =>
      (await client.workflow.count(`ExecutionStatus = 'Running' AND WorkflowType = 'referral'`)).count
    await forEachInFlight(ids, (id) => client.workflow.getHandle(`lead-${id}`).terminate())
    await waitFor(async () => (await running()) <= 1)
    const { started } = await reconcile(stage.service)
    expect(started.toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b))
    await forEachInFlight(ids, (id) => stage.send(id, 'contract_signed'))
    await waitFor(async () => ids.every((id) => stage.leads.arrivals(id).length > 1))
    for (const id of ids)
      expect(stage.leads.arrivals(id).map(({ event }) => event.data.sequence)).toEqual([1, 2])
  }, 900_000)
})
