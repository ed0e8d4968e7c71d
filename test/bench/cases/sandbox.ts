import { randomUUID } from 'node:crypto'
import { MOST_ADVANCES } from '../../../src/sandbox/lead-clock.ts'
import { forEachInFlight } from '../../../src/temporal/in-flight.ts'
import { deploy } from '../deployment.ts'
import { LEAD } from '../lead.ts'
import type { Bench } from '../load/load.ts'
import { percentile } from '../numbers.ts'
import { startReceiver } from '../receiver.ts'
import type { Row } from '../rows.ts'
import type { Started } from '../servers.ts'

const SAMPLES = 30
const YEARS = 10
const MANY = 1000

const GAINS = {
  experian_gain: 12,
  equifax_gain: 9,
  transunion_gain: 15,
  estimated_time_remaining: '90-120 days',
}

/** A lead's clock: 45 days against one milestone to its webhook, and a year in one call. */
export async function sandbox({ servers }: Bench): Promise<Row[]> {
  const tester = await startTester(servers)
  const leads = await tester.addLeads(SAMPLES + YEARS)
  const periods = { floor: [] as number[], service: [] as number[] }
  const years: number[] = []
  // the first of each kind finds cold code
  await tester.advance(leads[0] ?? 0, 45)
  for (const leadId of leads.slice(0, SAMPLES)) {
    periods.floor.push(await timed(() => tester.milestone(leadId)))
    periods.service.push(await timed(() => tester.advance(leadId, 45)))
  }
  for (const leadId of leads.slice(SAMPLES)) years.push(await timed(() => tester.advance(leadId, 365)))
  await tester.close()
  const half = (latencies: number[]) => [percentile(latencies, 0.5)]
  return [
    {
      work: '45 days of a lead in one call, p50',
      unit: 'ms',
      floor: half(periods.floor),
      service: half(periods.service),
      aim: { ratioTo: 3 },
      note: 'floor: one milestone to its webhook',
    },
    {
      work: 'a year of a lead in one call, p50',
      unit: 'ms',
      floor: [],
      service: half(years),
      aim: { to: 1000 },
      note: 'eight score updates and their webhooks',
    },
  ]
}

/** Many leads that are advanced at once: none is lost, and the webhooks of each come in order. */
export async function advanceMany({ servers }: Bench): Promise<Row[]> {
  const tester = await startTester(servers)
  const leads = await tester.addLeads(MANY)
  const ms = await timed(async () => {
    const [failed] = await forEachInFlight(leads, (leadId) => tester.advance(leadId, 45), {
      limit: MOST_ADVANCES,
    })
    if (failed !== undefined) throw failed.error
  })
  await tester.close()
  return [{ work: `${MANY} leads advanced by 45 days`, unit: '/s', floor: [], service: [(MANY / ms) * 1000] }]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** A partner in a sandbox, whose endpoint answers at once. */
async function startTester(servers: Started) {
  const receiver = await startReceiver()
  const deployment = await deploy(servers, receiver.url)
  const { client, headers, secret } = deployment
  const [api, worker] = await Promise.all([deployment.startApi(), deployment.startWorker()])
  const arrived = new Map<number, () => void>()
  receiver.onArrival = (leadId) => arrived.get(leadId)?.()
  let expected = 0
  const post = async (path: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${api.port}/v1/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as { lead_id: number; data: { status: string } }
    if (response.status !== 200)
      throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`)
    return answer
  }
  return {
    /** Leads that have funded the escrow account: score updates are due. */
    async addLeads(count: number): Promise<number[]> {
      const leads: number[] = []
      const [failed] = await forEachInFlight(Array.from({ length: count }), async () => {
        const { lead_id: leadId } = await post('create-lead', LEAD)
        await post('sandbox/simulate-event', { lead_id: leadId, event_name: 'escrow_funded' })
        leads.push(leadId)
        expected += 2
      })
      if (failed !== undefined) throw failed.error
      return leads
    },
    /** From the signal of a score update to the arrival of its webhook. */
    async milestone(leadId: number): Promise<void> {
      expected += 1
      const called = new Promise<void>((resolve) => void arrived.set(leadId, resolve))
      const argument = { id: randomUUID(), event_payload: GAINS }
      await client.workflow.getHandle(`lead-${leadId}`).signal('score_update', argument)
      await called
    },
    async advance(leadId: number, days: number): Promise<void> {
      expected += Math.floor(days / 45)
      const { data } = await post('sandbox/advance-clock', { lead_id: leadId, days })
      if (data.status !== 'score_update') throw new Error(`lead ${leadId} is at ${data.status}`)
    },
    /** @throws {Error} unless every webhook has arrived, verified and in order. */
    async close() {
      receiver.verifyAll(secret, expected)
      await Promise.all([api, worker].map((one) => one.stop()))
      await deployment.close()
      receiver.close()
    },
  }
}
