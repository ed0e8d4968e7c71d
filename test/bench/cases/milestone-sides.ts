import { randomUUID } from 'node:crypto'
import { deploy } from '../deployment.ts'
import { BARE_QUEUE } from '../floors/names.ts'
import { LEAD } from '../lead.ts'
import { startReceiver } from '../receiver.ts'
import type { Started } from '../servers.ts'
import { type Stalls, stallsOf } from '../stalls.ts'
import { forEachInFlight } from '../../../src/temporal/in-flight.ts'
import { createReferrals } from '../../../src/leads/referrals.ts'
import { milestones, type SignalledMilestone } from '../../../src/leads/milestones.ts'
import { MINUTE_MS } from '../../../src/values.ts'
import { insertLead } from '../../support/insert-lead.ts'
import { webhookBody } from '../../../src/webhooks/body.ts'

/** A set of workflows: of leads, or bare ones. */
export interface Side {
  /** Starts so many workflows; each of them makes its first call at once. Answers their numbers, from 1 on. */
  begin(count: number, partnerId?: number): Promise<number[]>
  /** Sends a score update, or another milestone. */
  signal(workflow: number, milestone?: SignalledMilestone): Promise<void>
  /** Whether a milestone leads to a call. */
  calls(milestone: SignalledMilestone): boolean
  /** Resolves with the next call of the workflow: a webhook, or an activity that does nothing. */
  called(workflow: number): Promise<void>
  /** Processor time of its worker, Temporal and PostgreSQL so far, in seconds. */
  cpuSeconds(): number
  /** What may have held it up so far. */
  stalls(): Promise<Stalls>
}

const GAINS = {
  experian_gain: 12,
  equifax_gain: 9,
  transunion_gain: 15,
  estimated_time_remaining: '90-120 days',
}

/** What the record has of a lead before its workflow starts. */
export type Given = Partial<Record<'anchor_at' | 'onboarding_sent_at', Date>>

/** The service and its floor on one Temporal server, namespace and database, each with its worker running. */
export async function startSides(servers: Started) {
  const receiver = await startReceiver()
  const deployment = await deploy(servers, receiver.url)
  const { client, sql, secret, encryptionKeys } = deployment
  const [first, floorWorker] = await Promise.all([deployment.startWorker(), deployment.startFloorWorker()])
  let worker = first
  const webhooks = waitingRoom()
  const noops = waitingRoom()
  let expected = 0
  const onArrivals = [webhooks.arrive]
  receiver.onArrival = (leadId) => onArrivals.forEach((onArrival) => onArrival(leadId))
  floorWorker.process.on('message', ({ lead }: { lead: number }) => noops.arrive(lead))
  const referrals = createReferrals({ client, sql })
  const toBody = (
    facts: Parameters<typeof insertLead>[3] extends (facts: infer Facts) => string ? Facts : never,
  ) => webhookBody({ ...facts, environment: 'sandbox' })
  const lead = { ...LEAD, partner_lead_id: null, fico_range: null, loan_officer_id: null, notes: null }
  const insert = (partnerId: number) =>
    sql.transaction().execute((trx) => insertLead(trx, partnerId, lead, toBody, encryptionKeys))
  /** A lead of any partner whose workflow runs; nobody waits for its webhook. */
  const addLead = async (partnerId: number, given: Given = {}) => {
    const leadId = await insert(partnerId)
    if (Object.keys(given).length > 0)
      await sql.updateTable('leads').set(given).where('id', '=', leadId).execute()
    await referrals.startFromRecord(leadId)
    return leadId
  }
  const send = async (leadId: number, milestone: SignalledMilestone = 'score_update') => {
    const argument = {
      ...(!milestones[milestone].once && { id: randomUUID() }),
      ...(milestone === 'score_update' && { event_payload: GAINS }),
    }
    await client.workflow.getHandle(`lead-${leadId}`).signal(milestone, argument)
  }
  const service: Side = {
    begin: async (count, partnerId = 1) =>
      begun(count, async () => {
        expected += 1
        const leadId = await insert(partnerId)
        const called = webhooks.called(leadId)
        await referrals.startFromRecord(leadId)
        await called
        return leadId
      }),
    async signal(leadId, milestone = 'score_update') {
      if (milestones[milestone].webhook) expected += 1
      await send(leadId, milestone)
    },
    calls: (milestone) => milestones[milestone].webhook,
    called: webhooks.called,
    cpuSeconds: () => servers.cpuSecondsWithTemporal(worker.pid),
    stalls: () => stallsOf(sql, worker),
  }
  let bare = 0
  const floor: Side = {
    begin: async (count) =>
      begun(count, async () => {
        const index = (bare += 1)
        const called = noops.called(index)
        const workflowId = `bare-${index}`
        await client.workflow.start('bare', { workflowId, taskQueue: BARE_QUEUE, args: [index] })
        await called
        return index
      }),
    signal: (index) => client.workflow.getHandle(`bare-${index}`).signal('go'),
    calls: () => true,
    called: noops.called,
    cpuSeconds: () => servers.cpuSecondsWithTemporal(floorWorker.pid),
    stalls: () => stallsOf(sql, floorWorker),
  }
  const verify = () => receiver.verifyAll(secret, expected)
  const verifying = setInterval(() => receiver.verifyNew(secret), MINUTE_MS)
  return {
    floor,
    service,
    deployment,
    /** Where the webhooks of all partners may go. */
    url: receiver.url,
    addLead,
    send,
    /** So many webhooks more than the sides know of. */
    expect: (more: number) => void (expected += more),
    onArrival: (told: (leadId: number) => void) => void onArrivals.push(told),
    stopWorker: () => worker.stop(),
    async startWorker(variables: Record<string, string> = {}) {
      worker = await deployment.startWorker(variables)
      return worker
    },
    /** @throws {Error} unless every webhook has arrived, verified and in order. */
    verify,
    async close() {
      clearInterval(verifying)
      verify()
      await Promise.all([worker, floorWorker].map((one) => one.stop()))
      await deployment.close()
      receiver.close()
    },
  }
}

export type Sides = Awaited<ReturnType<typeof startSides>>

function waitingRoom() {
  const waiting = new Map<number, (() => void)[]>()
  return {
    called: (workflow: number) =>
      new Promise<void>((resolve) => {
        waiting.set(workflow, [...(waiting.get(workflow) ?? []), resolve])
      }),
    arrive: (workflow: number) => waiting.get(workflow)?.shift()?.(),
  }
}

/** Some at a time. A measurement in which one fails is none. */
async function begun(count: number, begin: () => Promise<number>): Promise<number[]> {
  const numbers: number[] = []
  const [failed] = await forEachInFlight(Array.from({ length: count }), async () =>
    numbers.push(await begin()),
  )
  if (failed !== undefined) throw failed.error
  return numbers
}
