import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { setEndpoint } from '../../../src/endpoints/switch-endpoint.ts'
import { addPartner } from '../../../src/partners/partner.ts'
import { sealing } from '../../../src/seal.ts'
import { generateSecret } from '../../../src/webhooks/signature.ts'
import type { Deployment } from '../deployment.ts'
import type { Bench } from '../load/load.ts'
import { forEachInFlight } from '../../../src/temporal/in-flight.ts'
import { percentile } from '../numbers.ts'
import type { Row } from '../rows.ts'
import { atRate } from './milestones.ts'
import { type Sides, startSides } from './milestone-sides.ts'
import { putEndpoints } from '../../support/endpoint-states.ts'

type Sending = { attempt?: number | null; lastStartedTime?: unknown } | undefined

export const LEADS = 60
const DUE = 1000
/** Each of a lead's webhooks waits for the one before it. */
const MILESTONES = ['client_account_created', 'credit_scan_completed', 'contract_signed', 'escrow_funded']
const NEIGHBOURS_LEADS = DUE / (1 + MILESTONES.length)
export const PER_SECOND = 10
const SECONDS = 20
export const ROUNDS = 5
/** A milestone's way on a machine that does nothing else. */
const CALM_MS = 140
const MOST_LOOKS = 60

/**
 * What one partner's webhooks notice of another's endpoint that hangs with a thousand of them due: the floor is the
 * same work while that endpoint is paused.
 */
export async function isolation({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  await sides.service.begin(LEADS)
  const neighbour = await addHangingNeighbour(sides)
  const p95 = { floor: [] as number[], service: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    p95.floor.push(await measure(sides, 0.95))
    await neighbour.hang()
    p95.service.push(await measure(sides, 0.95))
    sides.verify()
    await neighbour.rest()
  }
  await neighbour.close()
  await sides.close()
  return [
    {
      work: `milestone → webhook at ${PER_SECOND}/s, p95`,
      unit: 'ms',
      ...p95,
      aim: { ratioTo: 1.1 },
      note: `floor: the neighbour is paused; service: its endpoint hangs with ${DUE} due, of ${NEIGHBOURS_LEADS} leads`,
    },
  ]
}

const LOAD = { workflows: LEADS, perSecond: PER_SECOND }

/**
 * Once what went before has ebbed away: hundreds of leads that are woken at a time keep two cores busy for a while.
 *
 * @param meanwhile is begun together with the measurement.
 */
export async function measure(
  { service }: Sides,
  share: number,
  meanwhile: () => Promise<void> = async () => {},
): Promise<number> {
  const half = async () => percentile(await atRate(service, { ...LOAD, seconds: 3 }), 0.5)
  for (let looks = 0; looks < MOST_LOOKS && (await half()) > CALM_MS; looks++);
  const [latencies] = await Promise.all([atRate(service, { ...LOAD, seconds: SECONDS }), meanwhile()])
  return percentile(latencies, share)
}

/** A partner whose endpoint takes connections and never answers; it is paused until `put`. */
export async function addHangingPartner({ sql, orm, encryptionKeys }: Deployment) {
  const held = new Set<unknown>()
  const server = createServer((request) => void held.add(request))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { id } = await addPartner(orm.em.fork(), { name: 'Second Lender' })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await setEndpoint(sql, id, { url, secret: sealing(generateSecret(), encryptionKeys) })
  const put = (state: 'active' | 'paused') => putEndpoints(sql, state, { partnerId: id })
  await put('paused')
  return { id, server, held, put }
}

/** A partner with a thousand webhooks due, whose endpoint takes connections and never answers. */
async function addHangingNeighbour({ deployment, addLead }: Sides) {
  const { sql, client } = deployment
  const { id, server, held, put } = await addHangingPartner(deployment)
  const leads: number[] = []
  await forEachInFlight(Array.from({ length: NEIGHBOURS_LEADS }), async () => leads.push(await addLead(id)))
  const handles = leads.map((leadId) => client.workflow.getHandle(`lead-${leadId}`))
  await forEachInFlight(handles, async (handle) => {
    for (const milestone of MILESTONES) await handle.signal(milestone)
  })
  while ((await countDue()) < DUE) await delay(200)
  const isParked = (sending: Sending) => sending === undefined
  await allAre(isParked)

  async function countDue(): Promise<number> {
    const due = sql.selectFrom('deliveries').select((eb) => eb.fn.countAll<string>().as('count'))
    return Number((await due.where('partner_id', '=', id).executeTakeFirstOrThrow()).count)
  }
  const wakeAll = () => forEachInFlight(handles, (handle) => handle.signal('wake'))
  /** Of the activity that sends a lead's webhook, when there is one. */
  async function allAre(holds: (sending: Sending) => boolean): Promise<void> {
    await forEachInFlight(handles, async (handle) => {
      while (!holds((await handle.describe()).raw.pendingActivities?.[0])) await delay(200)
    })
  }

  return {
    /** Resolves once the endpoint has requests in flight, one once it let others time out, and all others stand back. */
    async hang() {
      held.clear()
      await put('active')
      await wakeAll()
      while (held.size === 0) await delay(50)
      await allAre((sending) => (sending?.attempt ?? 0) > 1 || Boolean(sending?.lastStartedTime))
    },
    async rest() {
      await put('paused')
      server.closeAllConnections()
      // what has failed meanwhile would look at the endpoint again in minutes only
      await wakeAll()
      await allAre(isParked)
    },
    async close() {
      server.close().closeAllConnections()
    },
  }
}
