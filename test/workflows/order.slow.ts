import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { milestones, signalledMilestones } from '../../src/core/leads/decisions/milestones.ts'

const FOUR = ['client_account_created', 'contract_signed', 'escrow_funded', 'client_engaged_in_chat']
/** Events after which the server suggests to continue as new; it is 4,096 by default. */
const SUGGESTED_AFTER = 60
const AT_ONCE = 20
const RUNS = 3
const MOST_UNRECORDED = 200
const GAINS = {
  experian_gain: 1,
  equifax_gain: 2,
  transunion_gain: 3,
  estimated_time_remaining: '30-60 days',
}

/** All orders of some names. */
function ordersOf(names: readonly string[]): string[][] {
  if (names.length < 2) return [[...names]]
  return names.flatMap((first) =>
    ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]),
  )
}

describe('signals are recorded in the order in which the server has them', () => {
  let service: Service
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    const temporal = await ownTemporal([`limit.historyCount.suggestContinueAsNew=${SUGGESTED_AFTER}`])
    service = await prepareService({ TEMPORAL_ADDRESS: temporal.address })
    leads = leadsOf(service, await service.addPartner())
  }, 60_000)

  it('when they wait for the first workflow task, in all 24 orders of four milestones', async () => {
    const sent = new Map<number, string[]>()
    await Promise.all(
      ordersOf(FOUR).map(async (order) => {
        const leadId = await leads.start()
        for (const name of order) await service.referrals.signal(leadId, name)
        sent.set(leadId, order)
      }),
    )
    await service.startWorker()
    await Promise.all(
      [...sent].flatMap(([leadId, order]) => order.map((name) => leads.recorded(leadId, name))),
    )
    expect(sent.size).toBe(24)
    for (const [leadId, order] of sent) expect((await leads.names(leadId)).slice(1)).toEqual(order)
  }, 60_000)

  it('which the Web UI still lists by name, each with a description', async () => {
    const leadId = await leads.start()
    const metadata = await service.client.workflow.getHandle(`lead-${leadId}`).query<{
      definition: { signalDefinitions: { name?: string; description?: string }[] }
    }>('__temporal_workflow_metadata')
    const listed = metadata.definition.signalDefinitions.filter(({ name }) => name)
    expect(listed.map(({ name }) => name)).toEqual(
      expect.arrayContaining([...signalledMilestones, 'send_now', 'close']),
    )
    expect(listed.filter(({ description }) => !description)).toEqual([])
  })

  it('when they keep coming while runs continue as new', async () => {
    const leadId = await leads.start()
    // each wave at once, every kind of milestone in it: the server decides their order
    const runs = new Set<string>()
    const sent = new Set<string>()
    for (let wave = 0; runs.size < RUNS; wave += 1) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) => {
          const name = signalledMilestones[index % signalledMilestones.length] ?? 'score_update'
          const id = `${wave}-${index}`
          sent.add(milestones[name].once ? name : `${name}:${id}`)
          return service.referrals.signal(leadId, name, {
            id,
            ...(name === 'score_update' && { event_payload: GAINS }),
          })
        }),
      )
      // a worker that is short of processor time is not flooded: the server takes 10,000 signals a run
      await until(async () => (await recordedKeys(leadId)).length >= sent.size - MOST_UNRECORDED)
      runs.add((await service.client.workflow.getHandle(`lead-${leadId}`).describe()).runId)
    }
    const keys = await received(leadId)
    const recorded = await until(async () => {
      const rows = await recordedKeys(leadId)
      return rows.length >= keys.length && rows
    })
    expect(recorded).toEqual(keys)
  }, 60_000)

  const recordedKeys = async (leadId: number) => {
    const rows = await service.sql
      .selectFrom('lead_events')
      .select('dedupe_key')
      .where('lead_id', '=', leadId)
      .where('event_name', '!=', 'lead_received')
      .orderBy('position')
      .execute()
    return rows.map((row) => row.dedupe_key)
  }

  /** The milestones in the histories of all runs, each fact at its first signal, by the key that it is recorded under. */
  async function received(leadId: number) {
    const keys = new Set<string>()
    let runId: string | undefined = (await service.client.workflow.getHandle(`lead-${leadId}`).describe()).raw
      .workflowExecutionInfo?.firstRunId as string | undefined
    while (runId) {
      const { events } = await service.client.workflow.getHandle(`lead-${leadId}`, runId).fetchHistory()
      for (const { workflowExecutionSignaledEventAttributes: signal } of events ?? []) {
        if (signal) keys.add(keyOf(signal.signalName ?? '', signal.input?.payloads?.[0]?.data))
      }
      runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined
    }
    return [...keys]
  }
})

function keyOf(name: string, data: Uint8Array | null | undefined): string {
  const { id } = JSON.parse(Buffer.from(data ?? []).toString()) as { id: string }
  return milestones[name as keyof typeof milestones].once ? name : `${name}:${id}`
}
