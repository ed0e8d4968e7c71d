import { randomUUID } from 'node:crypto'
import { milestones, type SignalledMilestone } from '../../src/leads/milestones.ts'
import { forEachInFlight } from '../../src/temporal/in-flight.ts'
import { leadsOf } from '../support/leads.ts'
import { isSignedWith } from '../support/partner-endpoint.ts'
import type { TestPartner } from '../support/service.ts'
import { type Deployment, deploy, startServers } from './servers.ts'

/** A set of workflows: of leads, or bare ones. */
export interface Side {
  /** Starts so many workflows, each of which makes its first call at once. Returns their numbers. */
  begin(count: number): Promise<number[]>
  /** Sends a score update, or another milestone. */
  signal(workflow: number, milestone?: SignalledMilestone): Promise<void>
  /** Whether a milestone leads to a call. */
  calls(milestone: SignalledMilestone): boolean
  /** Resolves with the next call of the workflow: a webhook, or an activity that does nothing. */
  called(workflow: number): Promise<void>
  /** Processor time of its worker, Temporal and PostgreSQL so far, in seconds. */
  cpuSeconds(): number
}

const GAINS = {
  experian_gain: 12,
  equifax_gain: 9,
  transunion_gain: 15,
  estimated_time_remaining: '90-120 days',
}

/** What the record has of a lead before its workflow starts. */
type Given = { anchor_at?: Date; onboarding?: 'sent'; onboarding_at?: Date }

/** The service and its floor on one Temporal server, namespace and database, each with its worker running. */
export async function startSides() {
  const servers = await startServers()
  const deployment = await deploy(servers)
  const { client, sql, partner, referrals } = deployment
  const floorWorker = await deployment.startFloor('worker')
  let worker = await deployment.startWorker()
  const webhooks = waitingRoom()
  const noops = waitingRoom()
  floorWorker.process.on('message', ({ lead }: { lead: number }) => noops.arrive(lead))
  const heard: TestPartner[] = []
  const hear = (one: TestPartner) => {
    heard.push(one)
    one.endpoint.answer = ({ event }, response) => {
      response.writeHead(200).end()
      webhooks.arrive(event.data.lead_id)
    }
  }
  hear(partner)
  const beginFor = async (owner: TestPartner, count: number, given: Given = {}) =>
    begun(count, async () => {
      const leadId = await leadsOf(deployment, owner).commit()
      if (Object.keys(given).length > 0)
        await sql.updateTable('leads').set(given).where('id', '=', leadId).execute()
      const called = webhooks.called(leadId)
      await referrals.startFromRecord(leadId)
      await called
      return leadId
    })
  const service: Side = {
    begin: (count) => beginFor(partner, count),
    async signal(leadId, milestone = 'score_update') {
      const argument = {
        ...(!milestones[milestone].once && { id: randomUUID() }),
        ...(milestone === 'score_update' && { event_payload: GAINS }),
      }
      await client.workflow.getHandle(`lead-${leadId}`).signal(milestone, argument)
    },
    calls: (milestone) => milestones[milestone].webhook,
    called: webhooks.called,
    cpuSeconds: () => servers.cpuSecondsWithTemporal(worker),
  }
  let bare = 0
  const floor: Side = {
    begin: async (count) =>
      begun(count, async () => {
        const index = (bare += 1)
        const called = noops.called(index)
        const workflowId = `bare-${index}`
        await client.workflow.start('bare', { workflowId, taskQueue: 'bare', args: [index] })
        await called
        return index
      }),
    signal: (index) => client.workflow.getHandle(`bare-${index}`).signal('go'),
    calls: () => true,
    called: noops.called,
    cpuSeconds: () => servers.cpuSecondsWithTemporal(floorWorker),
  }
  return {
    floor,
    service,
    deployment,
    /** A second partner, whose endpoint also answers at once. */
    async addPartner() {
      const added = await deployment.addPartner()
      hear(added)
      return added
    },
    beginFor,
    stopWorker: () => worker.stop(),
    startWorker: async () => void (worker = await deployment.startWorker()),
    /** @throws {Error} unless every webhook has arrived once, signed and in order. */
    verify: () => Promise.all(heard.map((one) => verify(deployment, one))),
  }
}

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

async function begun(count: number, begin: () => Promise<number>): Promise<number[]> {
  const numbers: number[] = []
  await allInFlight(Array.from({ length: count }), async () => numbers.push(await begin()))
  return numbers
}

/** Some at a time. A measurement in which one fails is none. */
export async function allInFlight<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>) {
  const [failed] = await forEachInFlight(items, work)
  if (failed !== undefined) throw failed.error
}

async function verify({ sql }: Deployment, { id, endpoint }: TestPartner): Promise<void> {
  const reached = new Map<number, number>()
  for (const arrival of endpoint.arrivals) {
    const { lead_id: lead, sequence } = arrival.event.data
    const before = reached.get(lead) ?? 0
    if (!isSignedWith(endpoint.secret, arrival))
      throw new Error(`lead ${lead}: webhook ${sequence} is not signed`)
    if (sequence !== before + 1) throw new Error(`lead ${lead}: webhook ${sequence} came after ${before}`)
    reached.set(lead, sequence)
  }
  const recorded = await sql
    .selectFrom('deliveries')
    .select('event_id')
    .where('partner_id', '=', id)
    .execute()
  if (recorded.length !== endpoint.arrivals.length)
    throw new Error(`${endpoint.arrivals.length} webhooks came, not ${recorded.length}`)
}
